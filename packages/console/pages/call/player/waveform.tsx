import { useEffect, useRef } from 'react';
import WaveSurfer from 'wavesurfer.js';
import type { Schemas } from '../../../api/client.ts';
import type { CallDetail } from '../use-call.ts';

interface Props {
  readonly audio: HTMLAudioElement;
  readonly playback: Schemas['Playback'];
  readonly recording: NonNullable<CallDetail['audio']>;
}

const CHANNEL_PX = 44;

/** Both channels, the operator's above the client's. A click seeks; keys do the same in the player. */
export default function Waveform({ audio, playback, recording }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const { left, right } = playback.peaks;
  const isSwapped = recording.left_channel === 'client';
  useEffect(() => {
    const { current } = container;
    if (current === null) return;
    const draw = () => {
      const colors = getComputedStyle(current);
      const color = (name: string) => colors.getPropertyValue(name);
      const of = (role: 'operator' | 'client') => ({
        waveColor: resolved(current, color(`--${role}`), 45),
        progressColor: resolved(current, color(`--${role}`), 100),
      });
      const channels = [left, right].map((peaks) => peaks.map((peak) => peak / 100));
      const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.nonce;
      return WaveSurfer.create({
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
        cursorColor: resolved(current, color('--text'), 100),
        dragToSeek: true,
        splitChannels: [of('operator'), of('client')],
        ...(nonce !== undefined && nonce !== '' && { cspNonce: nonce }),
      });
    };
    let drawn = draw();
    // The colours are part of the drawing, so a change of scheme draws it again.
    const redraw = () => {
      drawn.destroy();
      drawn = draw();
    };
    const observer = new MutationObserver(redraw);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      drawn.destroy();
    };
  }, [audio, left, right, isSwapped, playback.duration]);
  return <div ref={container} className="waveform" aria-hidden="true" />;
}

/** A colour of the design as the canvas can use it, in some strength. */
function resolved(element: HTMLElement, color: string, percent: number): string {
  const probe = document.createElement('i');
  probe.style.color = `color-mix(in srgb, ${color} ${percent}%, transparent)`;
  element.append(probe);
  const { color: found } = getComputedStyle(probe);
  probe.remove();
  return found;
}
