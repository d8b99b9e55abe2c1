import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { uploadTexts } from './texts.ts';

export const uploadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/upload',
  loader: () => uploadTexts.load(currentLocale()),
  component: lazyRouteComponent(() => whenOnline(() => import('./upload-page.tsx')), 'UploadPage'),
});
