import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundledTokens } from '../models/bundled.ts';
import { findModels } from '../models/find-models.ts';
import { Ears } from './ears.ts';

const file = fileURLToPath(new URL('../fixtures/two-voices.wav', import.meta.url));
const shipped = fileURLToPath(
  new URL('../node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized/', import.meta.url),
);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-models-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('an ear', () => {
  it('hears by a model from a directory', async () => {
    const folder = join(directory, 'models/my-moonshine');
    await mkdir(folder, { recursive: true });
    for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx'])
      await symlink(join(shipped, name), join(folder, name));
    await symlink(await bundledTokens(directory), join(folder, 'tokens.txt'));
    const models = findModels(join(directory, 'models'));
    const ears = new Ears({ count: 1, recognition: { by: 'models', models, directory } });
    try {
      const { engine, said } = await ears.hear({ file, format: 'wav', duration: 13 });
      expect(engine).toBe('my-moonshine');
      expect(said).toHaveLength(3);
    } finally {
      ears.close();
    }
  });

  it('cuts for an engine of another kind, which hears one party at a time, at 16 kHz and with times of its own', async () => {
    const lengths: number[] = [];
    const engine = {
      name: 'other',
      maxPieceSeconds: 30,
      concurrency: 1,
      async hear({ samples }: { samples: Float32Array }) {
        lengths.push(samples.length / 16_000);
        return { utterances: [{ text: `piece ${lengths.length}`, start: 0.5, end: 1 }], language: 'es' as const };
      },
      async close() {},
    };
    const ears = new Ears({ count: 1, recognition: { by: 'engine', name: engine.name, maxPieceSeconds: 30 }, engine });
    try {
      const { engine: name, language, said } = await ears.hear({ file, format: 'wav', duration: 13 });
      expect({ name, language }).toEqual({ name: 'other', language: 'es' });
      expect(said.map(({ side, text }) => `${side} ${text}`)).toEqual([
        'left piece 1',
        'right piece 2',
        'left piece 3',
      ]);
      expect(said[0]!.end - said[0]!.start).toBeCloseTo(0.5, 5);
      expect(lengths[0]!).toBeGreaterThan(2.5);
      expect(lengths[0]!).toBeLessThan(4);
    } finally {
      ears.close();
    }
  });
});
