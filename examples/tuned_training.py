"""Training with a tuned learning rate; lines marked `# tuned` are the only additions.

    python examples/tuned_training.py

Needs PyTorch and scikit-learn: pip install 'topoloom[execute,tune]'.
"""

import torch
from sklearn.datasets import load_digits
from torch import nn

from topoloom.learning_rate import tune  # tuned
from topoloom.learning_rate.callbacks import ResumableBatches  # tuned


def train(steps: int = 600, seed: int = 0) -> float:
    """Train a small network on handwritten digits; return its accuracy on the last fifth."""
    torch.manual_seed(seed)
    digits, labels = load_digits(return_X_y=True)
    inputs, targets = torch.tensor(digits / 16, dtype=torch.float32), torch.tensor(labels)
    split = len(inputs) * 4 // 5
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = ResumableBatches(split, 32, seed)
    tuned = tune(model, optimizer, batches, steps, min_lr=1e-4, max_lr=1.0, seed=seed)  # tuned
    for batch in tuned:  # tuned
        loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tuned.step(loss)  # tuned
    told = tuned.tuner.state_dict()
    print(f"{told['step']} steps kept, {told['spent']} run")
    with torch.no_grad():
        right = model(inputs[split:]).argmax(dim=1) == targets[split:]
    return right.float().mean().item()


if __name__ == "__main__":
    print(f"accuracy {train():.3f}")
