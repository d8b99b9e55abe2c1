import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react';
import { saveFile } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { SERVICE_URL } from '../../session/session.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Popup, PopupItem } from '../../widgets/controls.tsx';
import { Highlighted } from '../../widgets/highlighted.tsx';
import { callTexts } from '../texts.ts';
import { type Player, usePlaying } from './player/use-player.ts';
import { type CallDetail, isInProgress, type Question, type Utterance } from './use-call.ts';

export interface TranscriptProps {
  readonly call: CallDetail;
  readonly player: Player;
  /** The question whose quotes are marked. */
  readonly question: Question | null;
  /** Words that the call was found by, which are marked while no question is. */
  readonly words: string | undefined;
  /** The utterance to bring into view. */
  readonly shown: { readonly index: number } | null;
  /** The comments under an utterance, and a way to add one. */
  readonly under: (index: number) => ReactNode;
}

/** The conversation. It follows the sound, and a click on a word plays from there. */
export function Transcript({ call, player, question, words, shown, under }: TranscriptProps) {
  const t = callTexts.use();
  const list = useRef<HTMLOListElement>(null);
  const utterances = call.transcript?.utterances ?? NONE;
  const playing = usePlaying(player.audio, utterances);
  useEffect(() => {
    if (player.isPlaying && playing >= 0) bringIntoView(list.current, playing);
  }, [playing, player.isPlaying]);
  useEffect(() => {
    if (shown !== null) bringIntoView(list.current, shown.index);
  }, [shown]);
  const pattern = wordPattern(question === null ? words : undefined);

  if (utterances.length === 0) {
    const missing = isInProgress(call) ? 'noTranscript' : 'withoutTranscript';
    return (
      <section className="card card-body" aria-label={t('transcript')}>
        <p className="muted">{t(call.transcript === null ? missing : 'noWords')}</p>
      </section>
    );
  }
  return (
    <section className="card transcript" aria-label={t('transcript')}>
      <div className="transcript-head">
        <h2>{t('transcript')}</h2>
        <SaveTranscript call={call} />
      </div>
      <ol ref={list}>
        {utterances.map((utterance) => {
          const { index, role, text, start, confidence, doubtful } = utterance;
          const isPlayable = start !== null && call.audio !== null;
          return (
            <li
              key={index}
              className={`utterance utterance-${role}`}
              aria-current={index === playing ? 'true' : undefined}
            >
              <div className="utterance-side">
                <span className="utterance-role">{t(`role.${role}`)}</span>
                {isPlayable && (
                  <button
                    type="button"
                    className="utterance-time number"
                    aria-label={t('playFrom', { time: format.duration(start) })}
                    onClick={() => player.playFrom(start)}
                  >
                    {format.duration(start)}
                  </button>
                )}
                {doubtful && (
                  <span className="badge badge-warn">
                    {t('confidence', { share: format.percent(confidence ?? 0) })}
                  </span>
                )}
              </div>
              <div>
                {/* The button beside it does the same by keyboard. */}
                {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions */}
                <div
                  className={`utterance-text foreign ${isPlayable ? 'utterance-playing' : ''}`}
                  onClick={(event) => isPlayable && playWord(event, utterance, player)}
                >
                  <Highlighted text={text} spans={spansOf(utterance, question, pattern)} />
                </div>
                {under(index)}
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const NONE: readonly Utterance[] = [];

function spansOf({ index, text }: Utterance, question: Question | null, pattern: RegExp | null) {
  if (question !== null) {
    return question.evidence
      .filter(({ utterance }) => utterance === index)
      .map(({ start_char, end_char }) => ({ start: start_char, end: end_char }));
  }
  if (pattern === null) return [];
  return Array.from(text.matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** The words of a search, and longer words that begin with them. */
function wordPattern(words: string | undefined): RegExp | null {
  const wanted = (words ?? '').replaceAll(/(?:^|\s)-\S+/g, ' ').match(/[\p{L}\p{N}]+/gu);
  if (wanted === null) return null;
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${wanted.join('|')})[\\p{L}\\p{N}]*`, 'giu');
}

/** Words have no times of their own, so that of the click is estimated from where it is in the utterance. */
function playWord(event: MouseEvent, { text, start, end }: Utterance, player: Player): void {
  if (start === null || end === null || getSelection()?.isCollapsed === false) return;
  const at = offsetIn(event.currentTarget, event.clientX, event.clientY);
  player.playFrom(start + (end - start) * (at / Math.max(1, text.length)));
}

function offsetIn(element: Element, x: number, y: number): number {
  const position = document.caretPositionFromPoint?.(x, y);
  if (position === null || position === undefined || !element.contains(position.offsetNode)) return 0;
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(position.offsetNode, position.offset);
  return range.toString().length;
}

function bringIntoView(list: HTMLElement | null, index: number): void {
  list?.children[index]?.scrollIntoView({ block: 'center', behavior: 'smooth' });
}

const FORMATS = [
  { name: 'txt', label: 'TXT', needsTimes: false },
  { name: 'srt', label: 'SRT', needsTimes: true },
  { name: 'vtt', label: 'WebVTT', needsTimes: true },
  { name: 'json', label: 'JSON', needsTimes: false },
] as const;

/** Downloads the transcript. Subtitles are offered where the utterances have times. */
function SaveTranscript({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const save = useAction((format: string) =>
    saveFile(`${SERVICE_URL}/api/v1/calls/${call.uuid}/transcript?format=${format}`, `${call.uuid}.${format}`),
  );
  const hasTimes = call.transcript?.utterances.every(({ start, end }) => start !== null && end !== null) ?? false;
  return (
    <Popup
      className="button button-quiet button-small"
      isDisabled={save.isPending}
      icon="download"
      iconSize={14}
      label={t('saveTranscript')}
    >
      {FORMATS.filter(({ needsTimes }) => hasTimes || !needsTimes).map(({ name, label }) => (
        <PopupItem key={name} onClick={() => save.mutate(name)}>
          {label}
        </PopupItem>
      ))}
    </Popup>
  );
}
