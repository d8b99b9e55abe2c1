import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { bundledModel } from './bundled.ts';
import { fasterDecoder } from './faster-decoder.ts';

/** How often the bytes of a text are in the file. */
function count(file: Buffer, text: string): number {
  let found = 0;
  for (let at = file.indexOf(text); at >= 0; at = file.indexOf(text, at + 1)) found += 1;
  return found;
}

describe('the bundled decoder', () => {
  it('multiplies integers in the last layer of both branches', async () => {
    const published = await readFile(bundledModel().files['mergedDecoder']!);
    const made = fasterDecoder(published);
    expect(count(made, 'MatMulInteger') - count(published, 'MatMulInteger')).toBe(2 * 2);
    expect(count(made, 'logits_integers_MatMulInteger')).toBe(2);
    expect(count(made, 'DequantizeLinear')).toBeLessThan(count(published, 'DequantizeLinear'));
  });

  it('scales queries instead of keys, in both attentions of six layers and both branches', async () => {
    const made = fasterDecoder(await readFile(bundledModel().files['mergedDecoder']!));
    expect(count(made, '_scaled_twice_Mul')).toBe(2 * 6 * 2);
  });

  it('is not changed a second time', async () => {
    const made = fasterDecoder(await readFile(bundledModel().files['mergedDecoder']!));
    expect(fasterDecoder(made).equals(made)).toBe(true);
  });
});
