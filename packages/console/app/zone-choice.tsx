import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { firmQuery } from '../api/client.ts';
import { shellTexts } from '../i18n/texts.ts';
import { chooseZone, setFirmZone, useShownZone } from '../i18n/zone/zone.ts';

/** The firm's time zone, in which times are shown from then on unless the person has chosen another. */
export function useFirmZone(): string | undefined {
  const firmZone = useQuery(firmQuery).data?.time_zone;
  useEffect(() => {
    if (firmZone !== undefined) setFirmZone(firmZone);
  }, [firmZone]);
  return firmZone;
}

/** Names the time zone of the page, once, and lets the person choose another. */
export function ZoneChoice({ firmZone }: { firmZone: string | undefined }) {
  const t = shellTexts.use();
  const zone = useShownZone();
  // Four hundred options take longer to draw than the rest of a page.
  const [isChoosing, setChoosing] = useState(false);
  const zones = [zone, ...(isChoosing ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : [])];
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
          onFocus={() => setChoosing(true)}
          onChange={({ target }) => chooseZone(target.value === firmZone ? null : target.value)}
        >
          {firmZone !== undefined && <option value={firmZone}>{t('zone.firm', { zone: firmZone })}</option>}
          {[...new Set(zones)]
            .filter((each) => each !== firmZone)
            .map((each) => (
              <option key={each}>{each}</option>
            ))}
        </select>
      </label>
    </footer>
  );
}
