import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { preparedBundledModel } from '../models/bundled.ts';
import { findModels } from '../models/find-models.ts';
import { TranscriptionWorkerPool } from './worker-pool.ts';

const file = fileURLToPath(new URL('../fixtures/two-voices.wav', import.meta.url));
const shipped = fileURLToPath(
  new URL('../node_modules/@moonshine-ai/moonshine-js/dist/model/tiny/quantized/', import.meta.url),
);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-models-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('a worker', () => {
  it('transcribes with a model from a directory', async () => {
    const folder = join(directory, 'models/my-moonshine');
    await mkdir(folder, { recursive: true });
    for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx'])
      await symlink(join(shipped, name), join(folder, name));
    await symlink((await preparedBundledModel(directory)).tokens, join(folder, 'tokens.txt'));
    const models = findModels(join(directory, 'models'));
    const pool = new TranscriptionWorkerPool({ size: 1, recognition: () => ({ by: 'models', models, directory }) });
    try {
      const { engine, utterances } = await pool.transcribe({ file, format: 'wav', duration: 13 });
      expect(engine).toBe('my-moonshine');
      expect(utterances).toHaveLength(3);
    } finally {
      pool.close();
    }
  });

  it('cuts segments for an engine: one party at a time, at 16 kHz, keeping the times that the engine returns', async () => {
    const lengths: number[] = [];
    const engine = {
      name: 'other',
      maxSegmentSeconds: 30,
      concurrency: 1,
      async transcribe({ samples }: { samples: Float32Array }) {
        lengths.push(samples.length / 16_000);
        return { utterances: [{ text: `segment ${lengths.length}`, start: 0.5, end: 1 }], language: 'es' as const };
      },
      async close() {},
    };
    const pool = new TranscriptionWorkerPool({
      size: 1,
      recognition: () => ({ by: 'engine', name: engine.name, maxSegmentSeconds: 30 }),
      engine,
    });
    try {
      const { engine: name, language, utterances } = await pool.transcribe({ file, format: 'wav', duration: 13 });
      expect({ name, language }).toEqual({ name: 'other', language: 'es' });
      expect(utterances.map(({ side, text }) => `${side} ${text}`)).toEqual([
        'left segment 1',
        'right segment 2',
        'left segment 3',
      ]);
      expect(utterances[0]!.end - utterances[0]!.start).toBeCloseTo(0.5, 5);
      expect(lengths[0]!).toBeGreaterThan(2.5);
      expect(lengths[0]!).toBeLessThan(4);
    } finally {
      pool.close();
    }
  });
});
