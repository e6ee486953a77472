#!/usr/bin/env python3
"""Draws sentences for the readback: readback.py [COUNT [SEED]]

Prints COUNT (200) sentences of guides, manuals, comments, descriptions and messages, each with the name of its file. The
same commit gives the same sentences, since the seed is the commit unless another is given. A reader who does not know the
code paraphrases each sentence from the sentence and the file name alone. Sentences that were misunderstood are rewritten.
"""

import os
import random
import subprocess
import sys

import prose

WORDS_MIN = 4  # shorter ones are mostly names


def drawn(texts, count, seed):
    """(path, sentence) of so many different sentences, in the order of the draw."""
    sentences = sorted({(text.path, sentence) for text in texts for sentence in prose.sentences(text.text)
                        if len(prose.words(sentence)) >= WORDS_MIN})
    return random.Random(seed).sample(sentences, min(count, len(sentences)))


def main(count="200", seed=None):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    seed = seed or subprocess.run(["git", "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{count} sentences, seed {seed}\n")
    for number, (path, sentence) in enumerate(drawn(prose.all_texts(), int(count), seed), 1):
        print(f"{number}. {path}\n   {sentence}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
