import { Navigate } from '@tanstack/react-router';
import { LoadingOrFailed } from '../../../widgets/states.tsx';
import { searchOf, startView, useViews } from './use-views.ts';

/** The start of the console: the view that the person, or else the firm, has chosen for it, otherwise all calls. */
export function StartPage() {
  const views = useViews();
  if (views.isLoading) return <LoadingOrFailed query={views} />;
  const view = startView(views.data ?? []);
  return <Navigate to="/calls" search={view === undefined ? {} : searchOf(view)} replace />;
}
