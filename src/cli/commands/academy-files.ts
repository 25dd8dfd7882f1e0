import type { Argument } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'

/** The files that describe an academy. */
export const files: Argument = {
  name: 'files',
  summary: 'Files or folders; - for standard input (default academy.yaml, or the folder academy)',
  optional: true,
  rest: true,
  unlisted: ['--file', '-f'],
}

/** Environment variables that the files may use. */
export const env: Flag = {
  name: 'env',
  kind: 'texts',
  placeholder: 'name',
  summary: `Environment variable that the files may use as \${name}`,
}

/** Label of the records that apply creates. */
export const label: Flag = {
  name: 'label',
  kind: 'text',
  placeholder: 'text',
  summary: 'Label (managedBy) of records that these files create',
}

/** Deletes records that are not declared. */
export const prune: Flag = {
  name: 'prune',
  kind: 'switch',
  summary: 'Delete records with the label that are not declared',
}
