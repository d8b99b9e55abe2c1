import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { useEvents } from '../../../widgets/use-events.ts';
import type { Span } from './silences.ts';

/** Seconds that one press of an arrow key skips. */
export const SKIP_SECONDS = 5;

export type Player = ReturnType<typeof usePlayer>;
/** The one channel that is heard, or both. */
export type Heard = 'both' | 'left' | 'right';

const VOLUME = 'console.player.volume';
const SKIPS = 'console.player.skipsSilence';

interface Options {
  /** Seconds. */
  readonly startAt: number;
  /** What is passed over when the user skips silence. */
  readonly silences: readonly Span[];
}

/** The sound of a recording. The browser remembers the volume, and whether silence is skipped. */
export function usePlayer(url: string | null, { startAt, silences }: Options) {
  // Made once; the waveform draws it.
  const [audio] = useState(() =>
    Object.assign(new Audio(), { preload: 'metadata', volume: Number(localStorage.getItem(VOLUME) ?? 1) }),
  );
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const [skipsSilence, setSkipsSilence] = useState(() => localStorage.getItem(SKIPS) === 'yes');
  const [heard, setHeard] = useState<Heard>('both');
  const channels = useRef<Channels | null>(null);
  const stopAt = useRef<number | null>(null);

  useEffect(() => {
    if (url === null || audio.src === url) return;
    // A new URL of the same recording continues at the old one's position.
    const currentTime = audio.src === '' ? startAt : audio.currentTime;
    audio.src = url;
    audio.currentTime = currentTime;
  }, [audio, url, startAt]);
  useEvents(audio, ['timeupdate'], () => {
    const at = silences.find(({ start, end }) => start <= audio.currentTime && audio.currentTime < end);
    if (skipsSilence && at !== undefined && !audio.paused) audio.currentTime = at.end;
    if (stopAt.current === null || audio.currentTime < stopAt.current) return;
    stopAt.current = null;
    audio.pause();
  });
  useEffect(() => () => channels.current?.close(), []);
  useEvents(audio, ['play', 'pause', 'ended', 'error', 'emptied'], redraw);
  useEffect(() => () => audio.pause(), [audio]);

  // Rejected if the recording cannot be read; the error event reports that.
  const play = () => void audio.play().catch(() => {});
  const seek = useCallback(
    (seconds: number) => {
      // What plays from there does not end with the quote before.
      stopAt.current = null;
      audio.currentTime = Math.max(0, seconds);
    },
    [audio],
  );
  return {
    audio,
    isPlaying: !audio.paused,
    failure: audio.error !== null,
    rate: audio.playbackRate,
    /** From 0 to 1. */
    volume: audio.volume,
    skipsSilence,
    heard,
    toggle() {
      stopAt.current = null;
      if (audio.paused) play();
      else audio.pause();
    },
    /** Plays from a moment, and until another when it is given. */
    playFrom(seconds: number, until: number | null = null) {
      seek(seconds);
      stopAt.current = until;
      play();
    },
    seek,
    skip: (seconds: number) => seek(audio.currentTime + seconds),
    setRate(next: number) {
      // A new URL begins at the default.
      audio.defaultPlaybackRate = next;
      audio.playbackRate = next;
      redraw();
    },
    setVolume(next: number) {
      audio.volume = next;
      localStorage.setItem(VOLUME, String(next));
      redraw();
    },
    setSkipsSilence(next: boolean) {
      localStorage.setItem(SKIPS, next ? 'yes' : 'no');
      setSkipsSilence(next);
    },
    hear(channel: Heard) {
      channels.current ??= openChannels(audio);
      channels.current.hear(channel);
      setHeard(channel);
    },
  };
}

type Channels = ReturnType<typeof openChannels>;

/** The sound by way of Web Audio, which plays one channel on both sides. Opened when it is first asked for. */
function openChannels(audio: HTMLAudioElement) {
  const context = new AudioContext();
  const source = context.createMediaElementSource(audio);
  const splitter = context.createChannelSplitter(2);
  source.connect(splitter);
  return {
    hear(channel: Heard) {
      void context.resume();
      source.disconnect();
      splitter.disconnect();
      if (channel === 'both') {
        source.connect(context.destination);
        return;
      }
      source.connect(splitter);
      // A destination takes one channel for both sides.
      const mono = context.createGain();
      mono.channelCount = 1;
      mono.channelCountMode = 'explicit';
      splitter.connect(mono, channel === 'left' ? 0 : 1);
      mono.connect(context.destination);
    },
    close: () => void context.close(),
  };
}

/** The index of the utterance that is playing, or of the last one before. -1 before the first. */
export function usePlaying(audio: HTMLAudioElement, utterances: readonly { start: number | null }[]): number {
  const [playing, setPlaying] = useState(-1);
  useEvents(audio, MOVES, () => {
    const { currentTime } = audio;
    const next = utterances.findLastIndex(({ start }) => start !== null && start <= currentTime + 0.05);
    setPlaying(currentTime === 0 && audio.paused ? -1 : next);
  });
  return playing;
}

/** When the position in a recording changes. */
export const MOVES = ['timeupdate', 'seeked'] as const;
