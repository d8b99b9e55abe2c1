import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Span } from './silences.ts';

/** Seconds that one press of an arrow key skips. */
export const SKIP_SECONDS = 5;

export interface Player {
  /** Made once; the waveform draws it. */
  readonly audio: HTMLAudioElement;
  readonly isPlaying: boolean;
  readonly failure: boolean;
  readonly rate: number;
  /** From 0 to 1. */
  readonly volume: number;
  readonly skipsSilence: boolean;
  /** The one channel that is heard, or both. */
  readonly heard: Heard;
  toggle(): void;
  /** Plays from a moment, and until another when it is given. */
  playFrom(seconds: number, until?: number): void;
  skip(seconds: number): void;
  setRate(rate: number): void;
  setVolume(volume: number): void;
  setSkipsSilence(skips: boolean): void;
  hear(channel: Heard): void;
}

export type Heard = 'both' | 'left' | 'right';

const VOLUME = 'console.player.volume';
const SKIPS = 'console.player.skipsSilence';

interface Options {
  /** Seconds. */
  readonly startAt?: number;
  /** What is passed over when the user skips silence. */
  readonly silences?: readonly Span[];
}

/** The sound of a recording. The browser remembers the volume, and whether silence is skipped. */
export function usePlayer(url: string | null, { startAt = 0, silences = NONE }: Options = {}): Player {
  const [audio] = useState(() => Object.assign(new Audio(), { preload: 'metadata', volume: storedVolume() }));
  const [volume, setVolume] = useState(storedVolume);
  const [skipsSilence, setSkipsSilence] = useState(() => localStorage.getItem(SKIPS) === 'yes');
  const [heard, setHeard] = useState<Heard>('both');
  const channels = useRef<Channels | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [failure, setFailure] = useState(false);
  const [rate, setRate] = useState(1);
  const stopAt = useRef<number | null>(null);

  useEffect(() => {
    if (url === null || audio.src === url) return;
    // A new URL of the same recording continues at the old one's position.
    const currentTime = audio.src === '' ? startAt : audio.currentTime;
    audio.src = url;
    audio.currentTime = currentTime;
    setFailure(false);
  }, [audio, url, startAt]);
  useEvents(audio, ['timeupdate'], () => {
    const at = silences.find(({ start, end }) => start <= audio.currentTime && audio.currentTime < end);
    if (skipsSilence && at !== undefined && !audio.paused) audio.currentTime = at.end;
  });
  useEffect(() => () => channels.current?.close(), []);
  useEvents(audio, ['play', 'pause', 'ended'], () => setPlaying(!audio.paused));
  useEvents(audio, ['error'], () => setFailure(true));
  useEvents(audio, ['timeupdate'], () => {
    if (stopAt.current === null || audio.currentTime < stopAt.current) return;
    stopAt.current = null;
    audio.pause();
  });
  useEffect(() => () => audio.pause(), [audio]);

  const play = useCallback(() => {
    // Rejected if the recording cannot be read; the error event reports that.
    audio.play().catch(() => {});
  }, [audio]);
  return useMemo(
    () => ({
      audio,
      isPlaying,
      failure,
      rate,
      toggle() {
        stopAt.current = null;
        if (audio.paused) play();
        else audio.pause();
      },
      playFrom(seconds, until) {
        stopAt.current = until ?? null;
        audio.currentTime = Math.max(0, seconds);
        play();
      },
      skip(seconds) {
        audio.currentTime = Math.max(0, audio.currentTime + seconds);
      },
      setRate(next) {
        audio.playbackRate = next;
        setRate(next);
      },
      volume,
      setVolume(next) {
        audio.volume = next;
        localStorage.setItem(VOLUME, String(next));
        setVolume(next);
      },
      skipsSilence,
      setSkipsSilence(next) {
        localStorage.setItem(SKIPS, next ? 'yes' : 'no');
        setSkipsSilence(next);
      },
      heard,
      hear(channel) {
        channels.current ??= openChannels(audio);
        channels.current.hear(channel);
        setHeard(channel);
      },
    }),
    [audio, isPlaying, failure, rate, volume, skipsSilence, heard, play],
  );
}

const NONE: readonly Span[] = [];

function storedVolume(): number {
  const stored = Number(localStorage.getItem(VOLUME) ?? 1);
  return stored >= 0 && stored <= 1 ? stored : 1;
}

interface Channels {
  hear(channel: Heard): void;
  close(): void;
}

/** The sound by way of Web Audio, which plays one channel on both sides. Opened when it is first asked for. */
function openChannels(audio: HTMLAudioElement): Channels {
  const context = new AudioContext();
  const source = context.createMediaElementSource(audio);
  const splitter = context.createChannelSplitter(2);
  source.connect(splitter);
  return {
    hear(channel) {
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

/** Does something when a recording says one of these. */
export function useEvents(audio: HTMLAudioElement, names: readonly string[], act: () => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  const all = names.join(' ');
  useEffect(() => {
    const listener = () => latest.current();
    for (const name of all.split(' ')) audio.addEventListener(name, listener);
    return () => {
      for (const name of all.split(' ')) audio.removeEventListener(name, listener);
    };
  }, [audio, all]);
}
