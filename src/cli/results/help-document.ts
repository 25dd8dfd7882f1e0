import { version } from '../../contract/version.ts'
import type { NamedCommand } from '../command/command.ts'
import { effects } from '../command/flag.ts'
import { describeCommand, describeGlobalFlags, schemaPlace } from '../help/describe-command.ts'
import { environmentRows } from '../help/help-topics.ts'
import { type ExitName, exitCodes } from '../terminal/errors.ts'
import { neededBy, resultSchemas } from './output-schemas.ts'

/** Version of the form of the document: a new one if something is removed or changes its meaning. */
const helpForm = 1

export async function helpDocument(commands: readonly NamedCommand[]) {
  const described = await Promise.all(
    commands.map(({ path, command, aliases }) => describeCommand(path, command, aliases)),
  )
  const shared = ['Error', 'Request'].map((name) => ({ $ref: `${schemaPlace}${name}` }))
  const outputs = [...shared, ...described.map(({ output }) => output)]
  return {
    form: helpForm,
    program: 'learnctl',
    version,
    effects,
    exitCodes: Object.entries(exitCodes).map(([name, { code, when }]) => ({
      code,
      name: name as ExitName,
      when,
    })),
    globalFlags: describeGlobalFlags(),
    environment: environmentRows().map(([variable, meaning]) => ({ variable, meaning })),
    commands: described,
    schemas: neededBy(outputs, await resultSchemas(schemaPlace)),
  }
}
