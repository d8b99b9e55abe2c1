import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { done, failed } from '../../../widgets/actions.tsx';
import { Button, Check, Popup, PopupItem, Select } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { later } from '../../../widgets/later.tsx';
import { useEvents } from '../../../widgets/use-events.ts';
import { callTexts } from '../../texts.ts';
import type { CallDetail, Utterance } from '../use-call.ts';
import { type Heard, MOVES, type Player, SKIP_SECONDS } from './use-player.ts';

/** Loaded with the first recording. */
const Waveform = later(() => import('./waveform.tsx'), <div className="waveform" />);

const RATES = [0.75, 1, 1.25, 1.5, 2];
/** The URL is good for an hour. */
const REFRESH_MS = 45 * 60_000;

export function usePlayback(call: CallDetail) {
  return useQuery({
    ...get(['playback', call.uuid, call.audio?.left_channel], '/api/v1/calls/{uuid}/playback', {
      path: { uuid: call.uuid },
    }),
    enabled: call.audio !== null,
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: false,
  });
}

interface Props {
  readonly call: CallDetail;
  readonly recording: NonNullable<CallDetail['audio']>;
  readonly player: Player;
  readonly playback: ReturnType<typeof usePlayback>;
}

/** Plays the recording: the waveform of both channels, who speaks when, and the controls. */
export function PlayerPanel({ call, recording, player, playback }: Props) {
  const t = callTexts.use();
  const utterances = call.transcript?.utterances ?? [];
  const { duration } = recording;
  return (
    <section className="card player" aria-label={t('player')}>
      {playback.isError || player.failure ? (
        <p className="player-note" role="alert">
          {t('playerFailed')}{' '}
          <Button isSmall onClick={() => void playback.refetch()}>
            {shellTexts.translate('retry')}
          </Button>
        </p>
      ) : playback.data === undefined ? (
        <div className="waveform" role="status">
          <span className="visually-hidden">{t('preparing')}</span>
          <span className="skeleton waveform-wait" />
        </div>
      ) : (
        <Waveform audio={player.audio} playback={playback.data} recording={recording} onSeek={player.seek} />
      )}
      <Lanes utterances={utterances} duration={duration} />
      <div className="player-controls">
        <Button
          icon={player.isPlaying ? 'pause' : 'play'}
          kind="primary"
          label={t(player.isPlaying ? 'pause' : 'play')}
          disabled={playback.data === undefined}
          onClick={player.toggle}
        />
        <Button icon="back5" label={t('back5')} onClick={() => player.skip(-SKIP_SECONDS)} />
        <Button icon="forward5" label={t('forward5')} onClick={() => player.skip(SKIP_SECONDS)} />
        <Position player={player} duration={duration} />
        <Select
          aria-label={t('speed')}
          options={RATES}
          nameOf={(rate) => `${format.number(rate, 2)}×`}
          value={player.rate}
          onChoose={player.setRate}
        />
        <PlayerMenu {...{ call, recording, player }} url={playback.data?.url} />
      </div>
    </section>
  );
}

/** Volume, channels, silence, and what can be taken away. */
function PlayerMenu({ call, recording, player, url }: Omit<Props, 'playback'> & { url: string | undefined }) {
  const t = callTexts.use();
  const { left_channel } = recording;
  const nameOf = (side: Heard) =>
    side === 'both'
      ? t('hear.both')
      : t(`role.${(side === 'left') === (left_channel === 'operator') ? 'operator' : 'client'}`);
  const copyLink = async () => {
    const link = new URL(location.href);
    link.search = `?t=${Math.floor(player.audio.currentTime)}`;
    await navigator.clipboard.writeText(link.href);
    done(t('linkCopied', { at: format.duration(player.audio.currentTime) }));
  };
  // The sound of another origin cannot be taken apart.
  const maySplit = url !== undefined && new URL(url, location.href).origin === location.origin;
  return (
    <Popup className="button button-icon" icon="settings" name={t('playerMenu')}>
      <label className="popup-item">
        {t('volume')}
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={player.volume}
          aria-valuetext={format.percent(player.volume)}
          onChange={({ target }) => player.setVolume(Number(target.value))}
        />
      </label>
      {call.transcript !== null && (
        <Check className="popup-item" checked={player.skipsSilence} onTick={player.setSkipsSilence}>
          {t('skipSilence')}
        </Check>
      )}
      {maySplit && (
        <label className="popup-item">
          {t('hear')}
          <Select options={HEARD} nameOf={nameOf} value={player.heard} onChoose={player.hear} />
        </label>
      )}
      <PopupItem icon="copy" onClick={() => void copyLink().catch(failed)}>
        {t('copyLink')}
      </PopupItem>
      {url !== undefined && (
        <a className="popup-item" href={url} download={fileNameOf(call, url)}>
          <Icon name="download" />
          {t('download')}
        </a>
      )}
    </Popup>
  );
}

const HEARD: readonly Heard[] = ['both', 'left', 'right'];

/** The operator, the start, and the extension of what is played. */
function fileNameOf({ operator_name, start_time }: CallDetail, url: string): string {
  const extension = /\.[a-z0-9]+$/iu.exec(new URL(url, location.href).pathname)?.[0] ?? '';
  return `${operator_name} ${start_time.slice(0, 16).replaceAll(':', '-')}${extension}`;
}

/** Where the recording is, to move by keys and by pointer. */
function Position({ player: { audio, seek, skip }, duration }: { player: Player; duration: number }) {
  const t = callTexts.use();
  const [at, setAt] = useState(audio.currentTime);
  useEvents(audio, MOVES, () => setAt(audio.currentTime));
  const text = `${format.duration(at)} / ${format.duration(duration)}`;
  return (
    <>
      <input
        type="range"
        className="player-position"
        aria-label={t('position')}
        aria-valuetext={text}
        min={0}
        max={Math.max(duration, 0.1)}
        step={0.1}
        value={Math.min(at, duration)}
        onChange={({ target }) => seek(Number(target.value))}
        onKeyDown={(event) => {
          const direction = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
          if (direction === 0) return;
          event.preventDefault();
          skip(direction * SKIP_SECONDS);
        }}
      />
      <span className="number player-time">{text}</span>
    </>
  );
}

/** Who speaks when: a lane for each, with silence as the gaps. */
function Lanes({ utterances, duration }: { utterances: readonly Utterance[]; duration: number }) {
  const t = callTexts.use();
  if (!utterances.some(({ start }) => start !== null) || duration <= 0) return null;
  return (
    <div className="lanes" aria-hidden="true">
      {(['operator', 'client'] as const).map((role) => (
        <div key={role} className={`lane lane-${role}`} title={t(`role.${role}`)}>
          {utterances
            .filter((utterance) => utterance.role === role && utterance.start !== null && utterance.end !== null)
            .map(({ index, start, end }) => (
              <i
                key={index}
                style={{
                  left: `${(start! / duration) * 100}%`,
                  width: `max(2px, ${((end! - start!) / duration) * 100}%)`,
                }}
              />
            ))}
        </div>
      ))}
    </div>
  );
}
