import type { Settings } from '../../config/resolve-settings.ts'

/**
 * True if columns were chosen for this command. The project file does not count, because it applies to all
 * commands.
 */
export function hasChosenColumns({ columns }: Pick<Settings, 'columns'>): boolean {
  return ['flag', 'environment'].includes(columns.origin.source)
}

/** True if the user wants the record in some form, instead of a line about the change. */
export function hasChosenForm(settings: Pick<Settings, 'output' | 'columns' | 'quiet'>): boolean {
  return settings.output.origin.source !== 'default' || hasChosenColumns(settings) || settings.quiet.value
}
