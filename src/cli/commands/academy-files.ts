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

/** Which environment variables they may use. */
export const env: Flag = {
  name: 'env',
  kind: 'texts',
  placeholder: 'name',
  summary: `Environment variable that the files may use as \${name}`,
}

/** What apply marks the records with that it creates. */
export const label: Flag = {
  name: 'label',
  kind: 'text',
  placeholder: 'text',
  summary: 'Label (managedBy) of records that these files create',
}

/** Deletes what is not declared. */
export const prune: Flag = {
  name: 'prune',
  kind: 'switch',
  summary: 'Delete records with the label that are not declared',
}
