import type { Host } from '../../src/cli/command/noun.ts'

/** What loads commands to look at them, and runs none. */
export const host: Host = {
  helpOf: async () => null,
  manual: async () => '',
  runLine: async () => {},
}
