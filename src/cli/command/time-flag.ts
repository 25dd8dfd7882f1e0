import type { Flag } from './flag.ts'

/** Time zone of days. Every command that takes a time has this flag. */
export const timeZoneFlag: Flag = {
  name: 'timezone',
  kind: 'text',
  placeholder: 'zone',
  summary: 'Time zone for days and durations, such as Europe/Berlin (default UTC)',
}

/** Adds the time zone flag if any of the flags is a time. */
export function withTimeZone(flags: readonly Flag[]): readonly Flag[] {
  return flags.some(({ kind }) => kind === 'time') ? [...flags, timeZoneFlag] : flags
}
