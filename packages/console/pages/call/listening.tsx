import { useState } from 'react';
import { useKeys } from '../../widgets/use-events.ts';
import { PlayerPanel, usePlayback } from './player/player-panel.tsx';
import { silencesOf } from './player/silences.ts';
import { SKIP_SECONDS, usePlayer } from './player/use-player.ts';
import { Transcript, type TranscriptProps } from './transcript.tsx';
import type { CallDetail, Question } from './use-call.ts';

/** The recording of a call and where its conversation is shown; keys play it. `startAt`: the second to begin at. */
export function useListening(call: CallDetail, startAt = 0) {
  const playback = usePlayback(call);
  const player = usePlayer(playback.data?.url ?? null, { startAt, silences: silencesOf(call) });
  const [shown, setShown] = useState(() => utteranceAt(call, startAt));
  useKeys({
    ' ': () => call.audio !== null && player.toggle(),
    ArrowLeft: () => player.skip(-SKIP_SECONDS),
    ArrowRight: () => player.skip(SKIP_SECONDS),
  });
  return {
    playback,
    player,
    shown,
    /** Brings a quote of a question into view, and plays it. */
    quote(question: Question | null, index: number, isPlayed: boolean): void {
      const evidence = question?.evidence[index];
      if (evidence === undefined) return;
      setShown({ index: evidence.utterance });
      const { start = null, end = null } = call.transcript?.utterances[evidence.utterance] ?? {};
      if (isPlayed && start !== null && end !== null && call.audio !== null) player.playFrom(start, end);
    },
  };
}

/** The utterance to show first: that of the linked moment. */
function utteranceAt(call: CallDetail, moment: number): { index: number } | null {
  if (moment <= 0) return null;
  const index = call.transcript?.utterances.findLastIndex(({ start }) => start !== null && start <= moment) ?? -1;
  return index < 0 ? null : { index };
}

interface Props extends Partial<Pick<TranscriptProps, 'question' | 'words' | 'under'>> {
  readonly call: CallDetail;
  readonly listening: ReturnType<typeof useListening>;
}

/** The player and the conversation. */
export function Listening({ call, listening, question = null, words, under = () => null }: Props) {
  const { player, playback, shown } = listening;
  return (
    <>
      {call.audio !== null && <PlayerPanel call={call} recording={call.audio} player={player} playback={playback} />}
      <Transcript {...{ call, player, question, words, shown, under }} />
    </>
  );
}
