import './calibrations.css';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { Page, State } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { calibrationTexts } from '../texts.ts';
import { CALIBRATIONS } from './use-calibrations.ts';

/** The calibrations of the firm, the newest first. */
export default function CalibrationsPage() {
  const t = calibrationTexts.use();
  const nameOf = usePersonName();
  const calibrations = usePages((query) => get([...CALIBRATIONS, 'page', query], '/api/v1/calibrations', { query }));
  return (
    <Page
      title={t('title')}
      className="calibrations"
      actions={
        <Link to="/calibrations/new" className="button button-primary">
          <Icon name="plus" />
          {t('create')}
        </Link>
      }
    >
      <p className="muted calibrations-about">{t('about')}</p>
      <PagedTable
        label={t('title')}
        className="table-frame calibrations-table"
        pages={calibrations}
        none={<State title={t('none')} text={t('noneText')} />}
        keyOf={({ uuid }) => uuid}
        columns={({ name, text, plain }) => [
          name(t('name'), (calibration) => (
            <Link to="/calibrations/$uuid" params={{ uuid: calibration.uuid }}>
              {calibration.name}
            </Link>
          )),
          text(t('people'), ({ users }) => users.map(nameOf).join(', ')),
          plain(t('due'), ({ due }) => (due === null ? '–' : format.shortDateTime(due))),
          text(t('startedBy'), ({ by, created_at }) => `${nameOf(by)}, ${format.date(created_at)}`),
        ]}
      />
    </Page>
  );
}
