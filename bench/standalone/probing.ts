import { readFile } from 'node:fs/promises';
import { inspect, type Source, sourceOfBytes } from '@call-analysis/recordings';
import { atMost, type Figure, median } from '../harness/figure.ts';

const folder = new URL('../../samples/recordings/', import.meta.url);
const files = [
  'lost-parcel.wav',
  'double-charge.mp3',
  'new-router.flac',
  'holiday-offer.ogg',
  'clinic-appointment.aiff',
  'frozen-card.au',
];

/** The time and the bytes read to determine the format and length of each sample recording, without decoding it. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const file of files) {
    const bytes = await readFile(new URL(file, folder));
    const times: number[] = [];
    let read = 0;
    for (let round = 0; round < (quick ? 20 : 200); round++) {
      const counted = counting(sourceOfBytes(bytes));
      const began = performance.now();
      await inspect(counted, file);
      times.push(performance.now() - began);
      read = counted.bytesRead;
    }
    const format = file.slice(file.lastIndexOf('.') + 1);
    figures.push(
      atMost(1, {
        name: `probing of ${format}`,
        value: median(times),
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 5 },
      }),
      atMost(1, {
        name: `bytes read to probe ${format}`,
        value: read / 1024,
        unit: 'KiB',
        yardstick: { name: 'limit, KiB', value: 256 },
      }),
    );
  }
  return figures;
}

function counting(source: Source): Source & { readonly bytesRead: number } {
  let bytesRead = 0;
  return {
    sizeBytes: source.sizeBytes,
    get bytesRead() {
      return bytesRead;
    },
    async read(start, end) {
      const bytes = await source.read(start, end);
      bytesRead += bytes.length;
      return bytes;
    },
    async *stream(start) {
      for await (const bytes of source.stream(start)) {
        bytesRead += bytes.length;
        yield bytes;
      }
    },
  };
}
