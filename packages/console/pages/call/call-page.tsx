import './call.css';
import { Failed, Loading } from '../../widgets/states.tsx';
import { CallView } from './call-view.tsx';
import { callRoute } from './route.ts';
import { useCall } from './use-call.ts';

/** One call: hear it, read it, judge it. */
export function CallPage() {
  const { uuid } = callRoute.useParams();
  const { q, question } = callRoute.useSearch();
  const call = useCall(uuid);
  if (call.data !== undefined) return <CallView key={uuid} call={call.data} words={q} firstQuestion={question} />;
  if (call.isPending) return <Loading />;
  return <Failed error={call.error} retry={() => void call.refetch()} />;
}
