import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { ingest } from '@call-analysis/proto';
import { decode, FORMATS, inspect, type Format, type RecordingInfo } from '@call-analysis/recordings';
import type { Client } from '@call-analysis/rpc';
import pLimit from 'p-limit';
import {
  playableKey,
  playbackMarkerKey,
  recordingKey,
  removePlayback,
  waveformKey,
} from '../recordings/recording-objects.ts';
import { storedSource } from '../recordings/stored-source.ts';
import { pcm16, wavHeader } from './wav-encoder.ts';
import { Peaks, type Waveform } from './waveform.ts';

interface Playback {
  readonly url: string;
  readonly urlExpiresAt: Date;
  /** Of the bytes at the URL. */
  readonly format: Format;
  /** The URL serves a copy, because browsers do not play the recording itself. */
  readonly isConverted: boolean;
  readonly waveform: Waveform;
}

interface Parts {
  readonly objects: Objects;
  readonly ingest: Pick<Client<typeof ingest>, 'findCalls'>;
}

const URL_SECONDS = 3600;
/** Recordings that are decoded at the same time, so that uploads keep being served. */
const AT_ONCE = 2;

/** The codecs in WAV that browsers play. Of the other containers they play MP3, FLAC and Ogg, but not AIFF or AU. */
const PLAYED_IN_WAV = /^pcm_(?:u8|s16le|s24le|s32le|f32le|alaw|mulaw)$/;

/**
 * Makes recordings ready to be played and drawn in a browser. The peaks, and a copy in WAV where browsers do not play
 * the recording, are made when they are first asked for, and kept in the object store until the call is erased.
 */
export class Playbacks {
  readonly #parts: Parts;
  readonly #limit = pLimit(AT_ONCE);
  readonly #inProgress = new Map<string, Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Fault NOT_FOUND when the firm has no such call, or the call no recording. */
  async read(firmUuid: string, callUuid: string): Promise<Playback> {
    const { objects } = this.#parts;
    await this.#requireCall(firmUuid, callUuid);
    const stored = await this.#find(firmUuid, callUuid);
    if (stored === null) throw notFound('recording');
    if ((await objects.head(waveformKey(firmUuid, callUuid))) === null)
      await this.#prepareOnce(firmUuid, callUuid, stored);
    const converted = playableKey(firmUuid, callUuid);
    const isConverted = (await objects.head(converted)) !== null;
    const urlExpiresAt = new Date(Date.now() + URL_SECONDS * 1000);
    return {
      url: await objects.presignGet(isConverted ? converted : stored.key, { expiresInSeconds: URL_SECONDS }),
      urlExpiresAt,
      format: isConverted ? 'wav' : stored.format,
      isConverted,
      waveform: JSON.parse(await text(await objects.open(waveformKey(firmUuid, callUuid)))) as Waveform,
    };
  }

  async #requireCall(firmUuid: string, callUuid: string): Promise<void> {
    const { call_uuids } = await this.#parts.ingest.findCalls({ firm_uuid: firmUuid, call_uuids: [callUuid] });
    if (!call_uuids.includes(callUuid)) throw notFound('call');
  }

  async #find(firmUuid: string, callUuid: string): Promise<Stored | null> {
    const found = await Promise.all(
      FORMATS.map(async (format) => {
        const key = recordingKey(firmUuid, callUuid, format);
        const head = await this.#parts.objects.head(key);
        return head === null ? null : { key, format, sizeBytes: head.sizeBytes };
      }),
    );
    return found.find((each) => each !== null) ?? null;
  }

  #prepareOnce(firmUuid: string, callUuid: string, stored: Stored): Promise<void> {
    const running = this.#inProgress.get(callUuid);
    if (running !== undefined) return running;
    const work = this.#limit(() => this.#prepare(firmUuid, callUuid, stored)).finally(() =>
      this.#inProgress.delete(callUuid),
    );
    this.#inProgress.set(callUuid, work);
    return work;
  }

  /**
   * The marker goes first, so that the sweep removes what a crash leaves. The peaks go last: where they are, the rest is
   * complete.
   */
  async #prepare(firmUuid: string, callUuid: string, { key, format, sizeBytes }: Stored): Promise<void> {
    const { objects } = this.#parts;
    const marker = playbackMarkerKey(firmUuid, callUuid);
    await objects.put(marker, Readable.from([]));
    const source = storedSource(objects, key, sizeBytes);
    const info = await inspect(source, `recording.${format}`);
    const peaks = new Peaks(info);
    if (isPlayed(info)) for await (const samples of decode(source, format)) peaks.add(samples);
    else {
      const bytes = wavBytes(info, decode(source, format), peaks);
      await objects.put(playableKey(firmUuid, callUuid), Readable.from(bytes, { objectMode: false }));
    }
    await objects.put(waveformKey(firmUuid, callUuid), Readable.from([JSON.stringify(peaks.end())]));
    try {
      await this.#requireCall(firmUuid, callUuid);
      // Retention removes the recording of a call that stays.
      if ((await objects.head(key)) === null) throw notFound('recording');
    } catch (error) {
      await removePlayback(objects, firmUuid, callUuid);
      throw error;
    }
    await objects.remove(marker);
  }
}

interface Stored {
  readonly key: string;
  readonly format: Format;
  readonly sizeBytes: number;
}

function isPlayed({ format, codec }: RecordingInfo): boolean {
  if (format === 'wav') return PLAYED_IN_WAV.test(codec);
  return format !== 'aiff' && format !== 'au';
}

async function* wavBytes(
  info: RecordingInfo,
  decoded: ReturnType<typeof decode>,
  peaks: Peaks,
): AsyncGenerator<Buffer> {
  yield wavHeader(info);
  for await (const samples of decoded) {
    peaks.add(samples);
    yield pcm16(samples);
  }
}
