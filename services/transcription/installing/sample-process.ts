// The main file of a process that transcribes samples with a new model. A file that is not a model ends only this
// process.
import { readStereo } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { maxSegmentSeconds } from '../models/model.ts';
import { LoadedModels } from '../recognition/loaded-models.ts';
import type { SampleMessage, SampleRequest } from './transcribe-samples.ts';

function send(message: SampleMessage): void {
  process.send?.(message);
}

async function transcribe({ model, files, directory }: SampleRequest): Promise<void> {
  const elapsed = () => performance.now() / 1000;
  let startedAt = elapsed();
  const recognizer = await new LoadedModels(directory).recognizer(model);
  send({ type: 'loaded', tookSeconds: elapsed() - startedAt });
  for (const { file, format } of files) {
    const parts: Float32Array[] = [];
    for await (const [left] of readStereo(file, format)) parts.push(left);
    const sound = Buffer.concat(parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
    const all = new Float32Array(sound.buffer, sound.byteOffset, sound.byteLength / 4);
    const samples = all.slice(0, maxSegmentSeconds(model.kind) * SAMPLE_RATE_HZ);
    startedAt = elapsed();
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE_HZ });
    recognizer.decode(stream);
    const { text } = recognizer.getResult(stream);
    const seconds = samples.length / SAMPLE_RATE_HZ;
    send({ type: 'transcribed', text: text.trim(), seconds, tookSeconds: elapsed() - startedAt });
  }
}

process.once('message', (message: SampleRequest) => {
  void transcribe(message)
    .catch((error: unknown) => send({ type: 'error', message: error instanceof Error ? error.message : String(error) }))
    .finally(() => process.disconnect());
});
