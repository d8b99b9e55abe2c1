import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { ingest } from '@call-analysis/proto';
import type { GetPlaybackReply } from '@call-analysis/proto/audio/v1/GetPlaybackReply';
import { decode, FORMATS, inspect, type Format, type RecordingInfo, type Samples } from '@call-analysis/recordings';
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
import { Peaks, type Waveform } from './waveform.ts';

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;
const PCM = 1;
/** The largest size in RIFF. Players still play a longer recording to its end. */
const MAX_SIZE = 0xff_ff_ff_ff;

/** The header of a WAV file of 16-bit PCM with as many frames as the recording has. */
function wavHeader({ channels, sampleRate, frames }: RecordingInfo): Buffer {
  const rate = Math.round(sampleRate);
  const frameBytes = channels * SAMPLE_BYTES;
  const dataBytes = frames * frameBytes;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(Math.min(MAX_SIZE, dataBytes + HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(Math.min(MAX_SIZE, dataBytes), 40);
  return header;
}

/** Samples as interleaved 16-bit PCM. */
function pcm16({ channels }: Samples): Buffer {
  const length = channels[0]?.length ?? 0;
  const bytes = Buffer.allocUnsafe(length * channels.length * SAMPLE_BYTES);
  let at = 0;
  for (let frame = 0; frame < length; frame++) {
    for (const samples of channels) {
      const clipped = Math.max(-1, Math.min(1, samples[frame]!));
      at = bytes.writeInt16LE(Math.round(clipped * (clipped < 0 ? 32_768 : 32_767)), at);
    }
  }
  return bytes;
}

interface Deps {
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
  readonly #deps: Deps;
  readonly #limit = pLimit(AT_ONCE);
  readonly #inProgress = new Map<string, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Fault NOT_FOUND when the firm has no such call, or the call no recording. */
  async read(firmUuid: string, callUuid: string): Promise<GetPlaybackReply> {
    const { objects } = this.#deps;
    await this.#requireCall(firmUuid, callUuid);
    const stored = await this.#find(firmUuid, callUuid);
    if (stored === null) throw notFound('recording');
    if ((await objects.head(waveformKey(firmUuid, callUuid))) === null)
      await this.#prepareOnce(firmUuid, callUuid, stored);
    const copy = playableKey(firmUuid, callUuid);
    const converted = (await objects.head(copy)) !== null;
    const expiresAt = new Date(Date.now() + URL_SECONDS * 1000);
    const url = await objects.presignGet(converted ? copy : stored.key, { expiresInSeconds: URL_SECONDS });
    const waveform = JSON.parse(await text(await objects.open(waveformKey(firmUuid, callUuid)))) as Waveform;
    const [left = [], right = []] = waveform.channels;
    return {
      url,
      url_expires_at: expiresAt.toISOString(),
      format: converted ? 'wav' : stored.format,
      converted,
      duration: waveform.duration,
      peaks_per_second: waveform.peaksPerSecond,
      left: Buffer.from(left),
      right: Buffer.from(right),
    };
  }

  async #requireCall(firmUuid: string, callUuid: string): Promise<void> {
    const { call_uuids } = await this.#deps.ingest.findCalls({ firm_uuid: firmUuid, call_uuids: [callUuid] });
    if (!call_uuids.includes(callUuid)) throw notFound('call');
  }

  async #find(firmUuid: string, callUuid: string): Promise<Stored | null> {
    const found = await Promise.all(
      FORMATS.map(async (format) => {
        const key = recordingKey(firmUuid, callUuid, format);
        const head = await this.#deps.objects.head(key);
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
    const { objects } = this.#deps;
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
