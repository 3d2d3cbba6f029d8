import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { ImageError, imageSize, prepareImage, sniffImage } from "../../src/lib/image.js";

type Format = "png" | "jpeg" | "gif" | "webp";

function picture(width: number, height: number, format: Format): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "#336699" } })
    [format]()
    .toBuffer();
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

describe("sniffImage and imageSize", () => {
  test.each(["png", "jpeg", "gif", "webp"] as const)("know a %s by its content", async (format) => {
    const bytes = await picture(33, 21, format);
    expect(sniffImage(bytes)).toBe(`image/${format}`);
    expect(imageSize(bytes)).toEqual({ width: 33, height: 21 });
  });

  test("read the lossless and extended forms of WebP", async () => {
    const source = sharp({ create: { width: 300, height: 40, channels: 4, background: "#33669980" } });
    expect(imageSize(await source.clone().webp({ lossless: true }).toBuffer())).toEqual({ width: 300, height: 40 });
    expect(imageSize(await source.clone().webp({ quality: 50 }).toBuffer())).toEqual({ width: 300, height: 40 });
  });

  test("know nothing of other bytes, cut headers included", () => {
    expect(sniffImage(Buffer.from("<svg/>"))).toBeUndefined();
    expect(sniffImage(Buffer.alloc(0))).toBeUndefined();
    expect(imageSize(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))).toBeUndefined();
    expect(imageSize(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 1, 2, 3, 4, 5, 6]))).toBeUndefined();
  });
});

test("sniffImage takes a text for no image, whatever its first letters", () => {
  const texts = [
    "GIF89a",
    "GIF89a is a format\n",
    "GIF87a!,;\t\r\n",
    "GIF89a \u00e9\ud83d\ude00",
    "RIFF1234WEBPVP8 and so on",
  ];
  for (const text of texts) expect([text, sniffImage(Buffer.from(text))]).toEqual([text, undefined]);
  const long = Buffer.from(`GIF89a ${"\u20ac".repeat(5000)}`);
  expect([0, 1, 2].map((cut) => sniffImage(long.subarray(0, 8192 - cut)))).toEqual([undefined, undefined, undefined]);
  expect(sniffImage(Buffer.from("GIF89a\x01\0\x01\0"))).toBe("image/gif");
});

describe("prepareImage", () => {
  test("leaves an image within the limits as it is, with the type of its content", async () => {
    const data = base64(await picture(10, 10, "png"));
    expect(await prepareImage({ data, mimeType: "image/jpeg" })).toEqual({ data, mimeType: "image/png" });
    expect(await prepareImage({ data: `data:image/png;base64,${data}`, mimeType: "" })).toEqual({
      data,
      mimeType: "image/png",
    });
  });

  test("shrinks an image with too many pixels a side and says so", async () => {
    const data = base64(await picture(3000, 1500, "jpeg"));
    const prepared = await prepareImage({ data, mimeType: "image/jpeg" });
    expect(imageSize(Buffer.from(prepared.data, "base64"))).toEqual({ width: 2000, height: 1000 });
    expect({ ...prepared, data: "" }).toEqual({
      data: "",
      mimeType: "image/jpeg",
      note: "Resized from 3000x1500 to 2000x1000",
    });
  });

  test("fits an image into a box that is wider than high, at a quality that was asked for", async () => {
    const noise = await sharp(Buffer.from(Array.from({ length: 400 * 400 * 3 }, (_, at) => (at * 7919) % 251)), {
      raw: { width: 400, height: 400, channels: 3 },
    })
      .jpeg({ quality: 95 })
      .toBuffer();
    const image = { data: base64(noise), mimeType: "image/jpeg" };
    const [fine, coarse] = await Promise.all(
      [90, 20].map((jpegQuality) => prepareImage(image, { maxWidth: 300, maxHeight: 100, jpegQuality })),
    );
    expect(imageSize(Buffer.from(fine?.data ?? "", "base64"))).toEqual({ width: 100, height: 100 });
    expect(coarse?.data.length).toBeLessThan((fine?.data.length ?? 0) / 2);
    expect(await prepareImage(image, { maxWidth: 400, maxHeight: 400 })).toEqual(image);
  });

  test("turns an image as its EXIF orientation says when it shrinks it", async () => {
    const turned = await sharp(await picture(300, 100, "jpeg"))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const { data } = await prepareImage({ data: base64(turned), mimeType: "image/jpeg" }, { maxDimension: 150 });
    expect(imageSize(Buffer.from(data, "base64"))).toEqual({ width: 50, height: 150 });
  });

  test("makes an image with too many bytes smaller until it fits", async () => {
    const noise = Buffer.alloc(400 * 400 * 3);
    for (let at = 0, seed = 1; at < noise.length; at++) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      noise[at] = seed >> 16;
    }
    const png = await sharp(noise, { raw: { width: 400, height: 400, channels: 3 } })
      .png()
      .toBuffer();
    const prepared = await prepareImage({ data: base64(png), mimeType: "image/png" }, { maxBase64: 20_000 });
    expect(prepared.data.length).toBeLessThanOrEqual(20_000);
    expect(sniffImage(Buffer.from(prepared.data, "base64"))).toBe(prepared.mimeType);
    expect(prepared.mimeType).toBe("image/jpeg");
  });

  test("does not shrink when it is told not to", async () => {
    const data = base64(await picture(30, 30, "png"));
    expect(await prepareImage({ data, mimeType: "image/png" }, { maxDimension: 10, resize: false })).toEqual({
      data,
      mimeType: "image/png",
    });
  });

  test.each([
    ["not base64 at all!", "Cannot use image: its data is not base64"],
    ["", "Cannot use image: its data is not base64"],
    ["YQ=", "Cannot use image: its data is not base64"],
    [base64(Buffer.from("just text")), "Cannot use image: its content is no PNG, JPEG, GIF or WebP"],
  ])("refuses %j", async (data, reason) => {
    await expect(prepareImage({ data, mimeType: "image/png" })).rejects.toThrow(reason);
  });

  test("refuses what is too large to be looked at", async () => {
    const data = base64(await picture(30, 30, "png"));
    await expect(prepareImage({ data, mimeType: "image/png" }, { maxInput: 50 })).rejects.toThrow(
      "Cannot use image: it is larger than 0 MB",
    );
    const bomb = Buffer.from(data, "base64");
    bomb.writeUInt32BE(100_000, 16);
    bomb.writeUInt32BE(100_000, 20);
    await expect(prepareImage({ data: base64(bomb), mimeType: "image/png" })).rejects.toThrow(
      "100000x100000 pixels are too many",
    );
  });

  test.each([
    ["png", 0],
    ["jpeg", 0],
    ["webp", 0],
    ["gif", 1], // without the mark of its end it is shown all the same
  ] as const)("refuses every beginning of a %s", async (format, needless) => {
    const whole = await picture(9, 7, format);
    const refused: number[] = [];
    for (let length = 1; length <= whole.length; length++) {
      const data = base64(whole.subarray(0, length));
      const end = await prepareImage({ data, mimeType: "" }).then(
        () => "taken",
        (error: unknown) => (error instanceof ImageError ? error.message : String(error)),
      );
      if (/^Cannot use image: (its header is broken|its data ends too early|its content is no )/.test(end))
        refused.push(length);
    }
    expect(refused).toEqual(Array.from({ length: whole.length - 1 - needless }, (_, index) => index + 1));
  });

  test("takes images with whatever stands in or behind them", async () => {
    const frames = sharp({ create: { width: 8, height: 8, channels: 4, background: "#0000" } });
    const turned = frames.clone().flatten().withMetadata({ orientation: 6 });
    const images = [
      Buffer.concat([await picture(8, 8, "png"), Buffer.from("behind")]),
      await frames.clone().png({ palette: true, progressive: true }).toBuffer(),
      await frames.clone().gif().toBuffer(),
      await frames.clone().webp({ lossless: true }).toBuffer(),
      await frames.clone().webp({ quality: 50 }).toBuffer(),
      await turned.clone().jpeg({ progressive: true }).toBuffer(),
      await turned.clone().jpeg({ mozjpeg: true }).toBuffer(),
    ];
    for (const bytes of images) {
      const data = base64(bytes);
      expect((await prepareImage({ data, mimeType: "" })).data).toBe(data);
    }
  });

  test("refuses a signature without an image, also when nothing is to be shrunk", async () => {
    const data = base64(Buffer.from(`\x89PNG\r\n\x1a\n${"x".repeat(100)}`, "latin1"));
    await expect(prepareImage({ data, mimeType: "image/png" }, { resize: false })).rejects.toThrow(
      "Cannot use image: its header is broken",
    );
  });

  test("refuses a broken image that would have to be shrunk", async () => {
    const broken = await picture(3000, 20, "png");
    broken.fill(0, 60, broken.length - 20);
    await expect(prepareImage({ data: base64(broken), mimeType: "image/png" })).rejects.toThrow("Cannot use image: ");
  });
});
