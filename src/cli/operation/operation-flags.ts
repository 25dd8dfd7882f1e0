import type { Flag } from '../command/flag.ts'

/** The whole body at once. */
export const bodyFlag: Flag = {
  name: 'body',
  kind: 'text',
  placeholder: '@file|-',
  summary: 'Read fields from a JSON or YAML file, or standard input; flags override them',
}

/** What has to go from a resource. */
export const unsetFlag: Flag = {
  name: 'unset',
  kind: 'words',
  placeholder: 'field,…',
  summary: 'Reset fields to their defaults, by flag name',
}

/** What is to be changed besides the arguments, so that one command's ids are another's input. */
export const idsFlag: Flag = {
  name: 'ids',
  kind: 'text',
  placeholder: 'file|-',
  summary: 'Read ids from a file or standard input, one per line',
}

/** Leaves what is there as it is. */
export const ifNotExistsFlag: Flag = {
  name: 'if-not-exists',
  kind: 'switch',
  summary: 'Do nothing if it already exists',
}

/** Changes what is there. */
export const upsertFlag: Flag = {
  name: 'upsert',
  kind: 'switch',
  summary: 'Update it if it already exists',
}

/** The version that a change is made for. */
export const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Fail unless this is the current version (exit 6)',
}

/** Takes the rows of a platform as they come. */
export const ignoreFiltersFlag: Flag = {
  name: 'ignore-filters',
  kind: 'switch',
  summary: 'Include rows that cannot be checked against the filters (other platforms)',
}
