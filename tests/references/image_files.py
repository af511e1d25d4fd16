"""Image files of every supported kind, and their pixels as decoded by transformers' load_image with Pillow.

The files are beside cases.json. `rgb` is the result of ImageOps.exif_transpose and convert("RGB"): integers from 0 to 255 in
float32 [height, width, 3]. `exact` says whether every decoder gives these numbers; those of JPEG may differ by a rounding.
"""

import io
import os
import struct
import zlib

import numpy
import PIL.Image
import PIL.ImageOps
import torch

from common import Group, arguments, random_state

FILE = "pixels.safetensors"
HEIGHT, WIDTH = 13, 19


def picture(name, channels, smooth=False):
    state = random_state(f"image_files/{name}")
    if not smooth:
        return state.randint(0, 256, size=(HEIGHT, WIDTH, channels)).astype(numpy.uint8)
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [127 + 120 * numpy.sin(state.rand() * 6 + x * state.rand() / 3 + y * state.rand() / 3) for _ in range(channels)]
    return numpy.stack(planes, axis=-1).astype(numpy.uint8)


def image(name, mode, smooth=False):
    channels = len(PIL.Image.new(mode, (1, 1)).getbands())
    pixels = picture(name, channels, smooth)
    return PIL.Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels, mode)


def palette(colours, transparency=None):
    made = image(f"palette{colours}", "RGB").quantize(colours)
    if transparency is not None:
        made.info["transparency"] = transparency
    return made


def wide(mode):
    state = random_state(f"image_files/{mode}")
    return PIL.Image.fromarray(state.randint(0, 65536, size=(HEIGHT, WIDTH)).astype(numpy.uint16))


def turned(orientation):
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    return exif


def animation():
    return [image(f"frame{i}", "RGB", smooth=True).quantize(16) for i in range(3)]


def files():
    """name -> (image, how it is saved)"""
    made = {f"{mode}.png": (image(mode, mode), {}) for mode in ["L", "LA", "RGB", "RGBA"]}
    made["1.png"] = (image("1", "L").convert("1"), {})
    made["16_bits.png"] = (wide("I;16"), {})
    for colours in [2, 4, 16, 200]:
        made[f"palette_{colours}.png"] = (palette(colours), {})
    made["palette_transparent.png"] = (palette(16), {"transparency": 3})
    made["colour_key.png"] = (image("RGB", "RGB"), {"transparency": (1, 2, 3)})
    made["turned.png"] = (image("RGB", "RGB"), {"exif": turned(6)})
    made["profile.png"] = (image("RGB", "RGB"), {"icc_profile": other_profile()})
    for mode in ["L", "RGB", "CMYK"]:
        made[f"{mode}.jpg"] = (image(mode, mode, smooth=True), {"quality": 90})
    made["subsampled.jpg"] = (image("RGB", "RGB", smooth=True), {"quality": 80, "subsampling": "4:2:0"})
    made["progressive.jpg"] = (image("RGB", "RGB", smooth=True), {"quality": 80, "progressive": True})
    for orientation in range(1, 9):
        made[f"turned_{orientation}.jpg"] = (image("RGB", "RGB", smooth=True), {"quality": 95, "exif": turned(orientation)})
    for mode in ["RGB", "RGBA"]:
        made[f"{mode}.webp"] = (image(mode, mode), {"lossless": True, "exact": True})
    made["lossy.webp"] = (image("RGB", "RGB", smooth=True), {"quality": 80})
    made["turned.webp"] = (image("RGB", "RGB"), {"lossless": True, "exif": turned(8)})
    made["palette.gif"] = (palette(64), {})
    made["grey.gif"] = (image("L", "L"), {})
    made["transparent.gif"] = (palette(16), {"transparency": 3})
    frames = animation()
    made["animated.gif"] = (frames[0], {"save_all": True, "append_images": frames[1:], "duration": 100})
    made["animated.webp"] = (
        frames[0].convert("RGB"),
        {"save_all": True, "append_images": [frame.convert("RGB") for frame in frames[1:]], "lossless": True},
    )
    return made


def png(bits, colour, channels, interlace=0, transparent=None):
    """A PNG with bit depths and colour types that Pillow can read but not write; colour: 0 grey, 2 RGB, 4 LA, 6 RGBA."""
    state = random_state(f"image_files/png{bits}.{colour}")
    bytes_per_row = (WIDTH * channels * bits + 7) // 8
    rows = b"".join(b"\0" + state.bytes(bytes_per_row) for _ in range(HEIGHT))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, colour, 0, 0, interlace)
    key = b"" if transparent is None else chunk(b"tRNS", struct.pack(">H", transparent))
    parts = chunk(b"IHDR", header) + key + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def small_frame(transparent):
    """A GIF whose first frame covers only a part of the screen."""
    contents = io.BytesIO()
    palette(16).save(contents, "GIF", **({"transparency": 5} if transparent else {}))
    gif = bytearray(contents.getvalue())
    struct.pack_into("<HH", gif, 6, WIDTH + 4, HEIGHT + 3)
    place = gif.index(b"\x2c\0\0\0\0" + struct.pack("<HH", WIDTH, HEIGHT))
    struct.pack_into("<HH", gif, place + 1, 2, 1)
    return bytes(gif)


def written_by_hand():
    """name -> contents"""
    made = {f"grey_{bits}.png": png(bits, 0, 1) for bits in [2, 4, 16]}
    made["grey_16_transparent.png"] = png(16, 0, 1, transparent=200)
    made |= {"RGB_16.png": png(16, 2, 3), "LA_16.png": png(16, 4, 2), "RGBA_16.png": png(16, 6, 4)}
    return made | {"small_frame.gif": small_frame(False), "small_frame_transparent.gif": small_frame(True)}


def other_profile():
    """A profile that is not sRGB: decoders that apply it change the numbers."""
    import PIL.ImageCms

    return PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("LAB")).tobytes()


def contents_of(name, made, settings):
    contents = io.BytesIO()
    kind = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP", "gif": "GIF"}[name.rsplit(".", 1)[1]]
    made.save(contents, kind, **settings)
    return contents.getvalue()


def main():
    args = arguments(__doc__)
    group = Group(args, "image_files", "image_files.py", ["pillow"])
    saved = {name: contents_of(name, made, settings) for name, (made, settings) in files().items()}
    for name, contents in (saved | written_by_hand()).items():
        with open(os.path.join(group.folder, name), "wb") as out:
            out.write(contents)
        rgb = PIL.ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(contents))).convert("RGB")
        rgb = torch.from_numpy(numpy.array(rgb).astype(numpy.float32))
        options = {"image": name, "exact": not name.endswith(".jpg") and name != "lossy.webp"}
        key = group.put(FILE, name, rgb)
        group.add({"name": name, "op": "decode", "file": FILE, "options": options, "inputs": {}, "outputs": {"rgb": key}})
    group.save()


if __name__ == "__main__":
    main()
