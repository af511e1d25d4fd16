"""Filter bank features of audio spectrogram transformers: transformers' ASTFeatureExtractor, numpy path.

Whole features are too large to store: `features` contains the frames listed in `frames`, `means` the mean of each frame. The
audio is `samples` repeated `repeat` times. `length` is the number of frames that the sound has, at most max_length.
"""

import numpy
import torch
from transformers import ASTFeatureExtractor
from transformers.models.audio_spectrogram_transformer import feature_extraction_audio_spectrogram_transformer as module

from common import Group, arguments, random_state
from log_mel import sweep

FILE = "log_mel_fbank.safetensors"
KEPT = 12  # frames of each case, besides those at the ends
OPTIONS = ("num_mel_bins", "sampling_rate", "max_length", "do_normalize", "mean", "std")


def add(group, name, samples, repeat=1, **options):
    extractor = ASTFeatureExtractor(**options)
    samples = numpy.asarray(samples, numpy.float32)
    found = extractor(numpy.tile(samples, repeat), sampling_rate=extractor.sampling_rate, return_tensors="np")["input_values"][0]
    assert found.dtype == numpy.float32 and found.shape == (extractor.max_length, extractor.num_mel_bins)
    length = min(len(found), 1 + (len(samples) * repeat - 400) // 160)
    ends = {0, 1, length - 1, length, len(found) - 1}
    frames = numpy.array(sorted((ends | set(range(0, length, max(1, length // KEPT)))) & set(range(len(found)))))
    group.case(name, "log_mel_fbank", {key: getattr(extractor, key) for key in OPTIONS} | {"repeat": repeat},
               {"samples": torch.from_numpy(samples)},
               {"frames": torch.from_numpy(frames), "features": torch.from_numpy(found[frames]),
                "means": torch.from_numpy(found.astype(numpy.float64).mean(axis=1))},
               file=FILE, length=length)


def noise(name, count, scale):
    return random_state(f"log_mel_fbank/{name}").standard_normal(count) * scale


def main():
    assert not module.is_speech_available()  # torchaudio computes in float32
    args = arguments(__doc__)
    group = Group(args, "log_mel_fbank", "log_mel_fbank.py", ["transformers"])
    impulse = numpy.zeros(4000)
    impulse[1000] = 1.0
    tone = 0.5 * numpy.sin(2 * numpy.pi * 440 * numpy.arange(8000) / 16000)
    add(group, "defaults", noise("defaults", 8000, 0.1), repeat=4)
    add(group, "longer_than_max_length", noise("longer", 8000, 0.1), repeat=21)
    add(group, "sweep", sweep(12000, 20, 8000), max_length=100)
    add(group, "tone", tone, max_length=64)
    add(group, "tone_beside_an_offset", tone + 0.25, max_length=64)
    add(group, "quiet_noise", noise("quiet", 3000, 1e-4), max_length=20)
    add(group, "loud_noise", noise("loud", 3000, 1e4), max_length=20)
    add(group, "silence", numpy.zeros(1600), max_length=12)
    add(group, "impulse", impulse, max_length=24)
    add(group, "constant", numpy.full(2000, 0.7), max_length=12)
    add(group, "shortest", noise("shortest", 400, 0.3), max_length=3)
    add(group, "one_sample_less_than_two_frames", noise("less", 559, 0.3), max_length=3)
    add(group, "two_frames", noise("two", 560, 0.3), max_length=2)
    add(group, "not_normalized", noise("not_normalized", 2000, 0.3), max_length=16, do_normalize=False)
    add(group, "mean_and_std", noise("mean", 2000, 0.3), max_length=16, mean=-6.845978, std=5.5654526)
    add(group, "negative_std", noise("negative", 1000, 0.3), max_length=6, mean=1.5, std=-2.0)
    add(group, "80_bins", noise("80", 3000, 0.3), max_length=20, num_mel_bins=80)
    add(group, "one_bin", noise("one", 3000, 0.3), max_length=20, num_mel_bins=1)
    add(group, "more_bins_than_frequencies", noise("300", 1500, 0.3), max_length=8, num_mel_bins=300)
    for rate in (8000, 11025, 22050, 44100, 50):
        add(group, f"{rate}_hertz", noise(f"{rate}", 3000, 0.3), max_length=20, num_mel_bins=64, sampling_rate=rate)
    group.save()


if __name__ == "__main__":
    main()
