import './call.css';
import { ApiError } from '@call-analysis/client/errors';
import { Link } from '@tanstack/react-router';
import { Failed, Loading, State, useFailure } from '../../widgets/states.tsx';
import { CallView } from './call-view.tsx';
import { callRoute } from './route.ts';
import { callTexts } from './texts.ts';
import { useCall } from './use-call.ts';

/** One call: hear it, read it, judge it. */
export function CallPage() {
  const { uuid } = callRoute.useParams();
  const { q, question } = callRoute.useSearch();
  const call = useCall(uuid);
  if (call.data !== undefined) return <CallView key={uuid} call={call.data} words={q} firstQuestion={question} />;
  if (call.isPending) return <Loading />;
  if (call.error instanceof ApiError && call.error.status === 404) return <Gone error={call.error} />;
  return <Failed error={call.error} retry={() => void call.refetch()} />;
}

/** An erased call does not come back, so there is nothing to try again. */
function Gone({ error }: { error: ApiError }) {
  const t = callTexts.use();
  return (
    <State isPage {...useFailure(error)}>
      <Link to="/calls" className="button">
        {t('toCalls')}
      </Link>
    </State>
  );
}
