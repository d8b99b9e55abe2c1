import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { uploadTexts } from './texts.ts';

export const uploadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/upload',
  loader: () => uploadTexts.load(currentLocale()),
  component: lazyRouteComponent(() => import('./upload-page.tsx'), 'UploadPage'),
});
