import { chooseTarget } from '../../config/choose-target.ts'
import { settings as allSettings, type Setting, type SettingName } from '../../config/setting.ts'
import { platformName } from '../../config/target.ts'
import { type Command, type Host, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'

const passedOn = ['profile', 'url', 'database', 'timeout', 'retries', 'maxRetryWait', 'insecureHttp'] as const

export function mcpCommand(host: Host): Command {
  return {
    name: 'mcp',
    summary: 'Serve the commands to an AI assistant (MCP on standard input and output)',
    description:
      'Speaks the Model Context Protocol, revision 2025-11-25, with three tools: search, help and run. It is\nread-only unless --allow-writes is given; then each change is planned first, and carried out when its plan is confirmed.\nPeople are shown by pseudonyms. Ends with its input. The setup of assistants is described in docs/assistants.md.',
    writes: ['machine'],
    prints: [],
    flags: [
      {
        name: 'allow-writes',
        kind: 'switch',
        writes: ['academy'],
        destructive: true,
        summary: 'Allow commands that change data, in two steps: a plan, then its confirmation',
      },
      {
        name: 'show-names',
        kind: 'switch',
        summary: 'Show names, addresses and free text of people instead of pseudonyms',
      },
      {
        name: 'folder',
        kind: 'text',
        placeholder: 'path',
        file: 'read',
        summary: 'Folder whose files commands may read (default none)',
      },
    ],
    refuses: {
      ...notAList,
      output: 'It speaks the Model Context Protocol',
      columns: 'It speaks the Model Context Protocol',
      quiet: 'It speaks the Model Context Protocol',
      dryRun: 'Without --allow-writes it changes nothing',
      yes: 'Each change is confirmed by the digest of its plan',
    },
    interruption: 'ends',
    examples: ['mcp', 'mcp --allow-writes --folder .'],
    run: (context, { flags }) =>
      serve(context, host, {
        allowWrites: flags['allow-writes'] === true,
        showNames: flags['show-names'] === true,
        folder: flags['folder'] === undefined ? null : String(flags['folder']),
      }),
  }
}

interface ServeOptions {
  readonly allowWrites: boolean
  readonly showNames: boolean
  readonly folder: string | null
}

async function serve(context: Context, host: Host, options: ServeOptions): Promise<void> {
  const { io, settings, directories, profiles } = context
  const [{ serveMessages, guardOutput }, { assistantTools }, { RunTool }, { SharedFolder }] =
    await Promise.all([
      import('../mcp/serve-messages.ts'),
      import('../mcp/assistant-tools.ts'),
      import('../mcp/run-tool.ts'),
      import('../mcp/check-line.ts'),
    ])
  const folder = options.folder === null ? null : new SharedFolder(io.cwd, options.folder)
  const globalFlags = passedOn.flatMap((name: SettingName) => {
    const { value, origin } = settings[name]
    const { flag, placeholder }: Setting = allSettings[name]
    if (origin.source !== 'flag' || value === null || value === false) return []
    return [placeholder === undefined ? `--${flag}` : `--${flag}=${textOf(name, value)}`]
  })
  const targetName = () => {
    // Chosen anew: the active profile may change while this process runs.
    const target = chooseTarget({ settings, env: io.env, profiles: profiles.read(), cwd: io.cwd })
    return target ? `${target.profile ?? ''} ${platformName(target)}` : ''
  }
  const run = new RunTool(io, host, {
    ...{ allowWrites: options.allowWrites, showNames: options.showNames, folder, globalFlags, targetName },
    stateDirectory: directories.state,
  })
  const guarded = guardOutput(io)
  try {
    await serveMessages(guarded.io, assistantTools(host, run, options))
  } finally {
    guarded.end()
  }
}

function textOf(name: SettingName, value: unknown): string {
  return allSettings[name].kind === 'duration' ? `${Number(value)}ms` : String(value)
}
