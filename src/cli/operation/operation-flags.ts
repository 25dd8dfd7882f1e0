import type { Flag } from '../command/flag.ts'

/** The whole body at once. */
export const bodyFlag: Flag = {
  name: 'body',
  kind: 'text',
  placeholder: '@file|-',
  summary: 'Take the fields from a JSON or YAML file, or from standard input; flags override them',
}

/** What has to go from a resource. */
export const unsetFlag: Flag = {
  name: 'unset',
  kind: 'words',
  placeholder: 'field,…',
  summary: 'Put fields back to their default, each by the name of its flag',
}

/** The version that a change is made for. */
export const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Only while it is at this version; else exit 6',
}
