"""Learning rates of a Llama of 60M parameters on an accelerator: the tuner beside fixed schedules.

    python -m benchmarks.bench_learning_rate_llama --method topoloom
    python -m benchmarks.bench_learning_rate_llama --method WSD --rate 1e-3

The model, the batch of 512 x 256 tokens, AdamW and 10 % warm-up are those of the published
comparisons of 60M parameters.  Their text, C4, is a download of hundreds of gigabytes: here the
text is that of the installed Python packages, or of the files below --text.  The run prints its
final validation loss, perplexity, steps and seconds, and appends them to --out.
"""

import argparse
import json
import math
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.learning_rate.methods import SCHEDULES
from topoloom.learning_rate import InProcess, Options, TuningCallback
from topoloom.learning_rate.callbacks import ResumableBatches

WORDS, CONTEXT, BATCH, PART = 32_000, 256, 512, 128
WARMUP = 0.1
HELD = 1024  # sequences, for validation
SUFFIXES = (".py", ".pyi", ".md", ".rst", ".txt")


def texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size < 1_000_000:
            yield path.read_text(errors="ignore")


def sequences(folder: Path, cache: Path) -> torch.Tensor:
    """Return the text as sequences of words of a byte-pair encoding trained on it."""
    if not cache.exists():
        from tokenizers import ByteLevelBPETokenizer

        known = list(texts(folder))
        encoding = ByteLevelBPETokenizer()
        encoding.train_from_iterator(known[::8], vocab_size=WORDS, show_progress=False)
        parts = encoding.encode_batch(known)
        words = np.concatenate([np.asarray(part.ids, dtype=np.uint16) for part in parts])
        rows = words[: len(words) // CONTEXT * CONTEXT].reshape(-1, CONTEXT)
        np.save(cache, np.random.default_rng(0).permutation(rows))
    return torch.from_numpy(np.load(cache).astype(np.int64))


def llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=WORDS,
            hidden_size=512,
            intermediate_size=1376,
            num_hidden_layers=8,
            num_attention_heads=8,
            max_position_embeddings=CONTEXT,
            use_cache=False,
        )
    ).cuda()


class Run:
    """A model with its data, optimizer and losses."""

    def __init__(self, rows: torch.Tensor, rate: float, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = llama()
        self.known, self.held = rows[HELD:].cuda(), rows[:HELD].cuda()
        self.batches = ResumableBatches(len(self.known), BATCH, seed)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.1, fused=True
        )
        self._loss = torch.compile(self._of)

    def _of(self, rows: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            scores = self.model(rows).logits
        return torch.nn.functional.cross_entropy(
            scores[:, :-1].flatten(0, 1).float(), rows[:, 1:].flatten()
        )

    def step(self) -> torch.Tensor:
        """Make one step of the optimizer, and return the mean loss of its batch."""
        rows = self.known[next(self.batches)]
        self.optimizer.zero_grad()
        total = torch.zeros((), device=rows.device)
        for part in rows.split(PART):
            loss = self._loss(part) / (BATCH // PART)
            loss.backward()
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return total

    @torch.no_grad()
    def validate(self) -> float:
        """Return the mean loss of the held sequences."""
        losses = [self._loss(part).item() for part in self.held.split(PART)]
        return math.fsum(losses) / len(losses)


def scheduled(run: Run, method: str, rate: float, steps: int) -> int:
    warmup = int(WARMUP * steps)
    for step in range(steps):
        progress = (step - warmup + 0.5) / (steps - warmup)
        scale = (step + 1) / warmup if step < warmup else SCHEDULES[method](progress)
        for group in run.optimizer.param_groups:
            group["lr"] = rate * scale
        run.step()
    return steps


def tuned(run: Run, interval: tuple[float, float], steps: int, seed: int) -> tuple[int, Any]:
    low, high = interval
    options = Options(low, high, total_steps=steps, seed=seed, warmup_steps=int(WARMUP * steps))
    tuner = InProcess(options)
    callback = TuningCallback(tuner, run.model, run.optimizer, data=run.batches)
    while callback.running:
        callback.step(run.step())
    return tuner.state.spent, [
        {"rate": stage.rate, "start": stage.start} for stage in tuner.state.history
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--method", choices=["topoloom", *SCHEDULES], default="topoloom")
    parser.add_argument("--rate", type=float, default=3e-4, help="the peak of a fixed schedule")
    parser.add_argument("--interval", type=float, nargs=2, default=(1e-5, 1e-2))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_paths()["purelib"]))
    parser.add_argument("--cache", type=Path, default=Path("/tmp/learning-rate-text.npy"))
    parser.add_argument("--out", type=Path, default=Path("out/learning-rate-llama.jsonl"))
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    begin = time.perf_counter()
    rows = sequences(arguments.text, arguments.cache)
    row: dict[str, Any] = {"words": rows.numel(), "prepared": round(time.perf_counter() - begin, 1)}
    run = Run(rows, arguments.rate, arguments.seed)
    row |= {name: getattr(arguments, name) for name in ("method", "rate", "steps", "seed")}
    run.validate()  # compiles
    begin = time.perf_counter()
    if arguments.method == "topoloom":
        interval = (arguments.interval[0], arguments.interval[1])
        row["spent"], row["history"] = tuned(run, interval, arguments.steps, arguments.seed)
        row["rate"] = list(interval)
    else:
        row["spent"] = scheduled(run, arguments.method, arguments.rate, arguments.steps)
    torch.cuda.synchronize()
    row["seconds"] = round(time.perf_counter() - begin, 1)
    row["final"] = run.validate()
    row["perplexity"] = math.exp(row["final"])
    row["gigabytes"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    print(json.dumps(row), flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("a") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
