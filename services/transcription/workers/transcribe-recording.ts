import type { Language } from '@call-analysis/events';
import { Crosstalk } from '../audio/crosstalk.ts';
import { Loudness } from '../audio/loudness.ts';
import type { Side, Stereo } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ, type TimedText } from '../engines/speech-engine.ts';
import type { Transcriber } from '../recognition/model-transcriber.ts';
import { type Segment, Segmenter } from '../segmentation/segmenter.ts';
import type { VoiceActivity } from '../segmentation/speech-detector.ts';

/** An utterance on a channel; seconds from the recording's beginning. */
export interface ChannelUtterance extends TimedText {
  readonly side: Side;
}

export interface RecordingTranscript {
  /** Seconds. */
  readonly duration: number;
  /** Both channels carry the same recording, so it is unknown who speaks. */
  readonly isDualMono: boolean;
  /** Seconds of sound that the engine got. */
  readonly speechSeconds: number;
  /** Null when there was no speech. */
  readonly engine: string | null;
  readonly language: Language | null;
  /** Ordered by segment, not by time. */
  readonly utterances: readonly ChannelUtterance[];
}

interface TranscriptionDeps {
  /** Opens a detector; each channel gets its own. */
  readonly activity: () => VoiceActivity;
  readonly transcriber: Transcriber;
  /** Called with the number of seconds that are transcribed. */
  readonly onProgress?: (seconds: number) => void;
}

/** Transcribes a complete recording in constant memory: removes crosstalk, corrects loudness, cuts segments. */
export async function transcribeRecording(
  recording: AsyncIterable<Stereo>,
  { activity, transcriber, onProgress }: TranscriptionDeps,
): Promise<RecordingTranscript> {
  const crosstalk = new Crosstalk();
  const loudness = new Loudness();
  const segmenter = new Segmenter(activity, transcriber.maxSegmentSeconds);
  const transcribed: Pick<Segment, 'side' | 'from' | 'start' | 'end'>[] = [];
  let samples = 0;
  let speechSamples = 0;

  function cut([left, right]: Stereo): Segment[] {
    loudness.raise(left, right);
    return segmenter.push(left, right);
  }

  async function transcribe(segments: readonly Segment[]): Promise<void> {
    for (const { samples: sound, ...bounds } of segments) {
      transcribed.push(bounds);
      await transcriber.transcribe(sound, bounds.side);
      speechSamples += sound.length;
      onProgress?.(Math.max(bounds.end, 0));
    }
  }

  for await (const [left, right] of recording) {
    samples += left.length;
    await transcribe(cut(crosstalk.push(left, right)));
    onProgress?.(samples / SAMPLE_RATE_HZ);
  }
  await transcribe(cut(crosstalk.flush()));
  await transcribe(segmenter.flush());

  const duration = samples / SAMPLE_RATE_HZ;
  const { isDualMono } = crosstalk;
  const speechSeconds = speechSamples / SAMPLE_RATE_HZ;
  if (transcribed.length === 0)
    return { duration, isDualMono, speechSeconds, engine: null, language: null, utterances: [] };
  const { engine, language, segments } = await transcriber.finish();
  const utterances = transcribed.flatMap(({ side, from, start, end }, index) =>
    (segments[index] ?? []).flatMap((each) => {
      const text = each.text.replace(/\s+/gu, ' ').trim();
      if (!/[\p{L}\p{N}]/u.test(text)) return [];
      // The padding around a segment is not part of the utterance.
      const startsAt = Math.min(Math.max(from + each.start, start), end);
      const endsAt = Math.min(Math.max(from + each.end, startsAt), end);
      const { confidence } = each;
      return [{ side, text, start: startsAt, end: endsAt, ...(confidence !== undefined && { confidence }) }];
    }),
  );
  return { duration, isDualMono, speechSeconds, engine, language, utterances };
}
