import './calibrations.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePersonName } from '../../api/people.ts';
import * as format from '../../i18n/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { calibrationTexts } from './texts.ts';
import { PAGE_SIZE, useCalibrations } from './use-calibrations.ts';

/** The calibrations of the firm, the newest first. */
export function CalibrationsPage() {
  const t = calibrationTexts.use();
  useTitle(t('title'));
  const nameOf = usePersonName();
  const [page, setPage] = useState(1);
  const calibrations = useCalibrations(page);
  const { data } = calibrations;
  return (
    <div className="page calibrations">
      <div className="page-head">
        <h1>{t('title')}</h1>
        <div className="actions">
          <Link to="/calibrations/new" className="button button-primary">
            <Icon name="plus" />
            {t('create')}
          </Link>
        </div>
      </div>
      <p className="muted calibrations-about">{t('about')}</p>
      <LoadingOrFailed query={calibrations} />
      {data?.count === 0 && <State title={t('none')} text={t('noneText')} />}
      {data !== undefined && data.items.length > 0 && (
        <Table
          label={t('title')}
          className="table-frame calibrations-table"
          items={data.items}
          keyOf={({ uuid }) => uuid}
          columns={[
            {
              title: t('name'),
              kind: 'name',
              className: 'foreign',
              cell: ({ uuid, name }) => (
                <Link to="/calibrations/$uuid" params={{ uuid }}>
                  {name}
                </Link>
              ),
            },
            { title: t('people'), className: 'foreign', cell: ({ users }) => users.map(nameOf).join(', ') },
            { title: t('due'), cell: ({ due }) => (due === null ? '–' : format.shortDateTime(due)) },
            {
              title: t('startedBy'),
              className: 'foreign',
              cell: ({ by, created_at }) => `${nameOf(by)}, ${format.date(created_at)}`,
            },
          ]}
        />
      )}
      <Pager
        name={t('title')}
        earlier={t('newer')}
        later={t('older')}
        page={page}
        pages={Math.ceil((data?.count ?? 0) / PAGE_SIZE)}
        onPage={setPage}
      />
    </div>
  );
}
