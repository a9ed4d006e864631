"""Vowpal Wabbit, driven by itself: the file is its own to read, with its own parser and threads."""

from __future__ import annotations

from pathlib import Path

from vowpalwabbit import Workspace

from benchmarks.speed.rivals.task import task


def main() -> None:
    """Learn; then, if asked, predict with the model that was kept."""
    asked = task()
    model = f"{asked.predictions}.model"
    keep = f"-f {model}" if asked.predictions else ""
    learn = f"-d {asked.data} --loss_function logistic -b {asked.bits} {asked.options} {keep}"
    learner = Workspace(f"{learn} --no_stdin --quiet")
    loss = learner.get_sum_loss() / learner.get_weighted_examples()
    learner.finish()
    asked.learned(progressive_loss=loss)
    if asked.predictions:
        predict = f"-t -i {model} -d {asked.held_out} -p {asked.predictions} --link logistic"
        Workspace(f"{predict} --no_stdin --quiet").finish()
        Path(model).unlink()


if __name__ == "__main__":
    main()
