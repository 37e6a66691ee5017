"""Training with a tuned learning rate; lines marked `# tuned` are the only additions.

    python examples/tuned_training.py

Needs PyTorch and scikit-learn: pip install 'topoloom[execute,tune]'.
"""

import torch
from sklearn.datasets import load_digits
from torch import nn

from topoloom.learning_rate import InProcess, Options  # tuned
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback  # tuned


def train(steps: int = 600, seed: int = 0) -> float:
    """Train a small network on handwritten digits; return its accuracy on the last fifth."""
    torch.manual_seed(seed)
    digits, labels = load_digits(return_X_y=True)
    inputs, targets = torch.tensor(digits / 16, dtype=torch.float32), torch.tensor(labels)
    split = len(inputs) * 4 // 5
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = ResumableBatches(split, 32, seed)
    tuner = InProcess(Options(min_lr=1e-4, max_lr=1.0, total_steps=steps, seed=seed))  # tuned
    callback = TuningCallback(tuner, model, optimizer, data=batches)  # tuned
    while callback.running:  # tuned
        batch = next(batches)
        loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        callback.step(loss.item())  # tuned
    state = tuner.state
    print(f"{state.step} steps kept, {state.spent} run, peak rate {state.peak:.4g}")
    with torch.no_grad():
        right = model(inputs[split:]).argmax(dim=1) == targets[split:]
    return right.float().mean().item()


if __name__ == "__main__":
    print(f"accuracy {train():.3f}")
