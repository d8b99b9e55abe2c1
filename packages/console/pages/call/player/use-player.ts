import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

/** Seconds that one press of an arrow key skips. */
export const SKIP_SECONDS = 5;

export interface Player {
  /** Made once; the waveform draws it. */
  readonly audio: HTMLAudioElement;
  readonly isPlaying: boolean;
  readonly failure: boolean;
  readonly rate: number;
  toggle(): void;
  /** Plays from a moment, and until another when it is given. */
  playFrom(seconds: number, until?: number): void;
  skip(seconds: number): void;
  setRate(rate: number): void;
}

/** The sound of a recording. */
export function usePlayer(url: string | null): Player {
  const [audio] = useState(() => Object.assign(new Audio(), { preload: 'metadata' }));
  const [isPlaying, setPlaying] = useState(false);
  const [failure, setFailure] = useState(false);
  const [rate, setRate] = useState(1);
  const stopAt = useRef<number | null>(null);

  useEffect(() => {
    if (url === null || audio.src === url) return;
    // A new URL of the same recording continues at the old one's position.
    const { currentTime } = audio;
    audio.src = url;
    audio.currentTime = currentTime;
    setFailure(false);
  }, [audio, url]);
  useEffect(() => {
    const update = () => setPlaying(!audio.paused);
    const fail = () => setFailure(true);
    const stop = () => {
      if (stopAt.current === null || audio.currentTime < stopAt.current) return;
      stopAt.current = null;
      audio.pause();
    };
    audio.addEventListener('play', update);
    audio.addEventListener('pause', update);
    audio.addEventListener('ended', update);
    audio.addEventListener('error', fail);
    audio.addEventListener('timeupdate', stop);
    return () => {
      audio.pause();
      audio.removeEventListener('play', update);
      audio.removeEventListener('pause', update);
      audio.removeEventListener('ended', update);
      audio.removeEventListener('error', fail);
      audio.removeEventListener('timeupdate', stop);
    };
  }, [audio]);

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
    }),
    [audio, isPlaying, failure, rate, play],
  );
}

/** The index of the utterance that is playing, or of the last one before. -1 before the first. */
export function usePlaying(audio: HTMLAudioElement, utterances: readonly { start: number | null }[]): number {
  const [playing, setPlaying] = useState(-1);
  useEffect(() => {
    const update = () => {
      const { currentTime } = audio;
      const next = utterances.findLastIndex(({ start }) => start !== null && start <= currentTime + 0.05);
      setPlaying(audio.currentTime === 0 && audio.paused ? -1 : next);
    };
    audio.addEventListener('timeupdate', update);
    audio.addEventListener('seeked', update);
    return () => {
      audio.removeEventListener('timeupdate', update);
      audio.removeEventListener('seeked', update);
    };
  }, [audio, utterances]);
  return playing;
}
