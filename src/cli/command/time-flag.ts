import type { FieldFlag, Flag } from './flag.ts'

/** Time zone of days. Every command that takes a time has this flag. */
export const timeZoneFlag: Flag = {
  name: 'timezone',
  kind: 'text',
  placeholder: 'zone',
  summary: 'Time zone for days and durations, such as Europe/Berlin (default UTC)',
}

/** Returns the flags for a list's main time; `event` names it, as in `Created`. */
export function periodFlags(event: string) {
  return {
    since: { kind: 'time', summary: `${event} since this day or time, or within a duration such as 30d` },
    until: {
      kind: 'time',
      summary: `${event} before this day or time, or longer ago than a duration such as 30d`,
    },
  } as const satisfies Record<string, FieldFlag<'time'>>
}

/** Flag of lists whose items can change. */
export const updatedSinceFlag = periodFlags('Updated').since

/** Adds the time zone flag if any of the flags is a time. */
export function withTimeZone(flags: readonly Flag[]): readonly Flag[] {
  return flags.some(({ kind }) => kind === 'time') ? [...flags, timeZoneFlag] : flags
}
