/** Kinds of change that commands make, with their meanings. */
export const effects = {
  academy: 'Creates, changes or deletes what the platform or academy holds',
  elsewhere: 'Changes another system, or sends to it: a spreadsheet, Google Classroom, a receiver of events',
  files: 'Writes files that the command line names',
  machine: 'Changes what learnctl keeps on this machine: profiles, credentials, snapshots, running servers',
} as const

/** Name of a kind of change. */
export type Effect = keyof typeof effects

/** Use of a file or folder by a command. */
export type FileUse = 'read' | 'write' | 'both'
