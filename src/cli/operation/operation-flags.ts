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

/** The version that a change is made for. */
export const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Fail unless this is the current version (exit 6)',
}
