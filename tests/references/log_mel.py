"""Log-mel spectrograms: transformers' WhisperFeatureExtractor on signals chosen to be difficult.

Expected values are those of its numpy path, which computes the spectrum in float64 and stores it in complex64;
`float32_error` is the error of its torch path (float32 throughout). A 30 s spectrogram is too large to store:
`features` contains the columns listed in `frames`, `row_means` the mean of each row over all frames. The audio is `samples`
repeated `repeat` times.
"""

import numpy
import torch
from transformers import WhisperFeatureExtractor
from transformers.models.whisper import feature_extraction_whisper

from common import Group, arguments, largest_difference, random_state

FILE = "log_mel.safetensors"
RATE = 16000
KEPT = 24  # frames of each spectrogram, besides those at its ends and at the end of the audio


def features(extractor, sound, padded, torch_path):
    found = feature_extraction_whisper.is_torch_available
    feature_extraction_whisper.is_torch_available = lambda: torch_path
    try:
        lengths = {} if padded else {"padding": "do_not_pad", "truncation": False}
        return extractor(sound, sampling_rate=extractor.sampling_rate, return_tensors="np", **lengths)["input_features"][0]
    finally:
        feature_extraction_whisper.is_torch_available = found


def frames_of(count, end):
    """The first, the last, those around frame `end`, and some in between."""
    kept = {0, 1, 2, count - 1} | {end + i for i in range(-3, 4)} | set(range(0, min(count, end + 4), max(1, end // KEPT)))
    return numpy.array(sorted(frame for frame in kept if 0 <= frame < count))


def add(group, name, samples, repeat=1, padded=True, **options):
    extractor = WhisperFeatureExtractor(**options)
    samples = numpy.asarray(samples, numpy.float32)
    sound = numpy.tile(samples, repeat)
    exact = features(extractor, sound, padded, torch_path=False)
    single = features(extractor, sound, padded, torch_path=True)
    error = largest_difference(torch.from_numpy(single), torch.from_numpy(exact))
    frames = frames_of(exact.shape[1], len(sound) // extractor.hop_length)
    config = {key: getattr(extractor, key) for key in ("feature_size", "sampling_rate", "hop_length", "n_fft", "padding_value")}
    if padded:
        config["num_samples"] = extractor.n_samples
    group.case(name, "log_mel_spectrogram", config | {"repeat": repeat}, {"samples": torch.from_numpy(samples)},
               {"frames": torch.from_numpy(frames), "features": torch.from_numpy(exact[:, frames]),
                "row_means": torch.from_numpy(exact.astype(numpy.float64).mean(axis=1))},
               file=FILE, errors={"features": error}, num_frames=exact.shape[1])


def sweep(count, low, high, rate=RATE):
    """A sine whose frequency rises from `low` to `high` hertz."""
    time = numpy.arange(count) / rate
    return 0.5 * numpy.sin(2 * numpy.pi * (low * time + (high - low) * time**2 / (2 * count / rate)))


def noise(name, count, scale):
    return random_state(f"log_mel/{name}").standard_normal(count) * scale


def main():
    args = arguments(__doc__)
    group = Group(args, "log_mel", "log_mel.py", ["transformers"])
    impulse = numpy.zeros(4000)
    impulse[1000] = 1.0
    add(group, "sweep", sweep(12000, 50, 7900))
    add(group, "noise", noise("noise", 6001, 0.2))
    add(group, "quiet_noise", noise("quiet_noise", 3000, 1e-4))
    add(group, "silence", numpy.zeros(1600))
    add(group, "impulse", impulse)
    add(group, "constant", numpy.full(2000, 0.7))
    add(group, "ten_samples", noise("ten_samples", 10, 0.5))
    add(group, "thirty_seconds", noise("thirty_seconds", 8000, 0.1), repeat=60)
    add(group, "cut_to_thirty_seconds", noise("cut", 7001, 0.1), repeat=80)
    add(group, "128_filters", sweep(8000, 20, 8000), feature_size=128)
    add(group, "five_seconds", sweep(6000, 300, 3000), repeat=3, chunk_length=5)
    add(group, "padded_with_a_value", noise("padded", 2000, 0.1), chunk_length=1, padding_value=0.25)
    add(group, "as_long_as_it_is", noise("as_long", 1234, 0.3), padded=False)
    add(group, "shortest", noise("shortest", 201, 0.3), padded=False)
    add(group, "power_of_two", noise("power_of_two", 5000, 0.3), padded=False, sampling_rate=22050, n_fft=512, hop_length=128,
        feature_size=64)
    add(group, "odd_frames", noise("odd_frames", 3000, 0.3), padded=False, n_fft=321, hop_length=100, feature_size=40)
    add(group, "eight_kilohertz", noise("eight", 2000, 0.3), padded=False, sampling_rate=8000, n_fft=200, hop_length=80,
        feature_size=30)
    group.save()


if __name__ == "__main__":
    main()
