import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { firmQuery } from '../api/client.ts';
import { shellTexts } from '../i18n/shell/texts.ts';
import { chooseZone, setFirmZone, useShownZone } from '../i18n/zone/zone.ts';

/** The time zone of all times that are shown: a page is made again when it changes. */
export function useTimeZone(): string {
  const { data } = useQuery(firmQuery);
  const firmZone = data?.time_zone;
  useEffect(() => {
    if (firmZone !== undefined) setFirmZone(firmZone);
  }, [firmZone]);
  return useShownZone();
}

/** Four hundred options take longer to draw than the rest of a page, so that the page is there before them. */
const OTHERS_AFTER_MS = 1_000;

/** Names the time zone of the page, once, and lets the person choose another. */
export function ZoneChoice() {
  const t = shellTexts.use();
  const { data } = useQuery(firmQuery);
  const zone = useShownZone();
  const firmZone = data?.time_zone;
  const [hasOthers, setHasOthers] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setHasOthers(true), OTHERS_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const others = hasOthers ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : [];
  const zones = [zone, ...others].filter((each) => each !== firmZone);
  return (
    <footer className="zone">
      <span className="print-only">
        {t('zone')} {zone}
      </span>
      <label>
        <span>{t('zone')}</span>
        <select
          className="input"
          value={zone}
          onPointerDown={() => setHasOthers(true)}
          onFocus={() => setHasOthers(true)}
          onChange={({ target }) => chooseZone(target.value === firmZone ? null : target.value)}
        >
          {firmZone !== undefined && <option value={firmZone}>{t('zone.firm', { zone: firmZone })}</option>}
          {[...new Set(zones)].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    </footer>
  );
}
