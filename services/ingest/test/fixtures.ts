import { randomBytes, randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import AdmZip from 'adm-zip';
import type { StoredRecording } from '../calls/recording-store.ts';
import type { Owner } from '../intake/upload-store.ts';

/** A ZIP with one file of each name in its root. The content is not audio. */
export function zipOf(names: readonly string[]): Buffer {
  const zip = new AdmZip();
  for (const name of names) zip.addFile(name, Buffer.from(`bytes of ${name}`));
  return zip.toBuffer();
}

/** `call-0.wav` and so on. */
export function fileNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `call-${index}.wav`);
}

export function recordingOf(change: Partial<StoredRecording> = {}): StoredRecording {
  return {
    object_key: `recordings/${randomUUID()}.wav`,
    format: 'wav',
    codec: 'pcm_s16le',
    channels: 2,
    sample_rate: 8000,
    duration: 61.25,
    size_bytes: 1_960_044,
    sha256: randomBytes(32),
    ...change,
  };
}

/** The caller of a gRPC request. */
export function callerOf({ firmUuid, userUuid }: Owner) {
  return { caller: { firm_uuid: firmUuid, user_uuid: userUuid } };
}

/** An object store with some methods replaced. */
export function objectsBut(objects: Objects, changed: Partial<Objects>): Objects {
  return new Proxy(objects, {
    get(target, name) {
      const method: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

/** The Fault that a promise rejects with. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('The promise was fulfilled.');
}

/** Waits until another connection to the database waits for a lock. */
export async function untilSomebodyWaits(observer: Database): Promise<void> {
  for (;;) {
    const waiting = await observer.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (waiting.length > 0) return;
  }
}
