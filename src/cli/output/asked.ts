import type { Settings } from '../../config/resolve-settings.ts'

/** True where columns were chosen for this command; a project's file speaks for all commands at once. */
export function columnsAsked({ columns }: Pick<Settings, 'columns'>): boolean {
  return ['flag', 'environment'].includes(columns.origin.source)
}

/** True where a form of the record was asked for, rather than a line that says what was done. */
export function recordAsked(settings: Pick<Settings, 'output' | 'columns' | 'quiet'>): boolean {
  return settings.output.origin.source !== 'default' || columnsAsked(settings) || settings.quiet.value
}
