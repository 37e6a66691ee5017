"""Training whose learning rate a service tunes; lines marked `# tuned` are the only additions.

    topoloom serve &
    python examples/tuned_by_service.py http://127.0.0.1:8765 out/job.pt

If it is stopped at any step, even by kill -9, the same command resumes from the last save, with the
same schedule.  Needs PyTorch and scikit-learn: pip install 'topoloom[execute,tune]'.
"""

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn

from topoloom import Client, RemoteTuner  # tuned
from topoloom.learning_rate import Options  # tuned
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback  # tuned


def train(url: str, path: str, steps: int = 600, seed: int = 0) -> float:
    """Train a small network on handwritten digits; return its accuracy on the last fifth."""
    torch.manual_seed(seed)
    digits, labels = load_digits(return_X_y=True)
    inputs, targets = torch.tensor(digits / 16, dtype=torch.float32), torch.tensor(labels)
    split = len(inputs) * 4 // 5
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = ResumableBatches(split, 32, seed)
    client = Client(url, timeout_seconds=10)  # tuned
    tuner = RemoteTuner(client, Options(1e-4, 1.0, steps, seed=seed), name="digits")  # tuned
    callback = TuningCallback(tuner, model, optimizer, data=batches, resume=path)  # tuned
    made = 0
    while callback.running:  # tuned
        batch = next(batches)
        loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        callback.step(loss.item())  # tuned
        made += 1
        if made % 100 == 0:
            callback.save(path)  # tuned
    print(f"session {tuner.session_id}: {url}/v1/lr-sessions/{tuner.session_id}/history?format=svg")
    with torch.no_grad():
        right = model(inputs[split:]).argmax(dim=1) == targets[split:]
    return right.float().mean().item()


if __name__ == "__main__":
    print(f"accuracy {train(*sys.argv[1:3]):.3f}")
