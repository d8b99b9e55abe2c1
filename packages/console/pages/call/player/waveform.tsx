import { useEffect, useRef } from 'react';
import WaveSurfer from 'wavesurfer.js';
import type { Schemas } from '../../../api/client.ts';
import { colourOf, useScheme } from '../../../widgets/use-media.ts';
import type { CallDetail } from '../use-call.ts';

interface Props {
  readonly audio: HTMLAudioElement;
  readonly playback: Schemas['Playback'];
  readonly recording: NonNullable<CallDetail['audio']>;
  readonly onSeek: (seconds: number) => void;
}

const CHANNEL_PX = 44;

/** Both channels, the operator's above the client's. A click seeks; keys do the same in the player. */
export default function Waveform({ audio, playback, recording, onSeek }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const { left, right } = playback.peaks;
  const isSwapped = recording.left_channel === 'client';
  const scheme = useScheme();
  useEffect(() => {
    const { current } = container;
    if (current === null) return;
    const color = (name: string, percent: number) =>
      colourOf(current, `color-mix(in srgb, var(--${name}) ${percent}%, transparent)`);
    const of = (role: 'operator' | 'client') => ({ waveColor: color(role, 45), progressColor: color(role, 100) });
    const channels = [left, right].map((peaks) => peaks.map((peak) => peak / 100));
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.nonce;
    const drawn = WaveSurfer.create({
      container: current,
      media: audio,
      peaks: isSwapped ? channels.reverse() : channels,
      duration: playback.duration,
      height: CHANNEL_PX,
      barWidth: 2,
      barGap: 1,
      barRadius: 2,
      normalize: true,
      cursorWidth: 2,
      cursorColor: color('text', 100),
      dragToSeek: true,
      splitChannels: [of('operator'), of('client')],
      ...(nonce !== undefined && nonce !== '' && { cspNonce: nonce }),
    });
    drawn.on('interaction', onSeek);
    return () => drawn.destroy();
  }, [audio, left, right, isSwapped, playback.duration, scheme, onSeek]);
  return <div ref={container} className="waveform" aria-hidden="true" />;
}
