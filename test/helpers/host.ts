import type { Host } from '../../src/cli/command/command.ts'

/** Host of commands that are inspected and never run. */
export const host: Host = {
  helpOf: async () => null,
  manual: async () => '',
  runLine: async () => {},
}
