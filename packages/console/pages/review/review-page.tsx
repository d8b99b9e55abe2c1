import '../call/call.css';
import './review.css';
import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { Failed, Loading, State } from '../../widgets/states.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { useCall } from '../call/use-call.ts';
import { ReviewCall } from './review-call.tsx';
import { reviewTexts } from './texts.ts';
import { useQueue } from './use-queue.ts';

/** The answers that need a review, one at a time. */
export function ReviewPage() {
  const t = reviewTexts.use();
  const queue = useQueue();
  useTitle(t('title'));
  const { list, uuid, remaining } = queue;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <p className="muted number" role="status">
          {list.isSuccess &&
            remaining > 0 &&
            t(queue.isEstimate ? 'remainingAbout' : 'remaining', { n: remaining, count: format.number(remaining) })}
        </p>
      </div>
      {uuid !== null ? (
        <Current key={uuid} uuid={uuid} onNext={queue.next} />
      ) : list.isPending ? (
        <Loading />
      ) : list.isError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : queue.hasSkipped ? (
        <State title={t('skipped.title')} text={t('skipped.text')}>
          <button type="button" className="button button-primary" onClick={queue.startOver}>
            {t('skipped.again')}
          </button>
        </State>
      ) : (
        <State title={t('empty.title')} text={t('empty.text')}>
          <Link to="/calls" className="button">
            {t('empty.calls')}
          </Link>
        </State>
      )}
      <Ahead uuid={queue.following} />
    </div>
  );
}

function Current({ uuid, onNext }: { uuid: string; onNext: () => void }) {
  const t = reviewTexts.use();
  const call = useCall(uuid);
  if (call.data !== undefined) return <ReviewCall call={call.data} onNext={onNext} />;
  if (call.isPending) return <Loading />;
  return (
    <>
      <Failed error={call.error} retry={() => void call.refetch()} />
      <button type="button" className="button" onClick={onNext}>
        {t('skip')}
      </button>
    </>
  );
}

/** Prefetches the next call. */
function Ahead({ uuid }: { uuid: string | null }) {
  return uuid === null ? null : <Fetch uuid={uuid} />;
}

function Fetch({ uuid }: { uuid: string }) {
  useCall(uuid, { isAhead: true });
  return null;
}
