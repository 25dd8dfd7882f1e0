import { type Command, noColumns, notAList } from '../command/command.ts'
import { bindQueryFlags } from '../command/flag.ts'
import { auditFilters } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'
import { pseudonymFlag } from '../pseudonyms/pseudonym-flags.ts'
import { exportFlags, withFlagNames } from './export.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.audit

const columns = ['at', 'action', 'userEmail', 'subjectName', 'address', 'credential']
const query = bindQueryFlags(auditFilters)

const expectFlag = {
  name: 'expect',
  kind: 'texts',
  placeholder: 'hash',
  summary: 'Fail unless the log has this hash, noted down after an earlier check',
} as const

export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List the entries of the audit log, newest first',
    operation: async () => (await contract()).list,
    query: auditFilters,
    columns,
    examples: [
      'audit list --since 7d',
      'audit list --action course.published,course.archived --user email:admin@academy.local',
    ],
  }),
  call({
    name: 'get',
    summary: 'Show an entry of the audit log',
    operation: async () => (await contract()).get,
    arguments: { entryId: { name: 'entry', summary: 'Id of the entry' } },
    columns: [...columns, 'subjectId', 'requestId', 'userAgent', 'place', 'before', 'after'],
    examples: ['audit get "$(learnctl audit list --limit 1 -q)"'],
  }),
  {
    name: 'revert',
    summary: 'Undo what a request or an entry of the audit log did',
    writes: ['academy'],
    prints: ['Undone', 'UndoPlan'],
    exits: ['partial'],
    destructive: true,
    confirms: true,
    description:
      'Works as `learnctl undo` does, for one request (`requestId`) or one entry: shows the plan and asks before anything is changed.',
    interruption: 'continues',
    arguments: [{ name: 'entry', summary: 'Id of the entry, or of the request' }],
    refuses: noColumns,
    examples: ['audit revert "$(learnctl audit list --noun course --limit 1 -q)" --dry-run'],
    run: async (context, given) => {
      const { revertEntry } = await import('../undo/undo.ts')
      await revertEntry(context, given.arguments['entry'] ?? '')
    },
  },
  {
    name: 'export',
    hasRows: true,
    summary: 'Export the audit log as a file, oldest entry first',
    writes: [],
    prints: ['AuditEntry[]'],
    description:
      'The format is set by --output, else by the extension of --file (.csv, .json, .jsonl, .ndjson or .yaml, with .gz added to\ncompress); the default is CSV. JSON has everything that the hashes cover.',
    refuses: {
      quiet: 'Print ids with: learnctl audit list --all -q',
      limit: 'An export contains all rows; use the filters to narrow it',
    },
    refusesFlags: {
      [pseudonymFlag.name]: 'Entries name people in free text; use: learnctl analytics export --pseudonymise',
    },
    flags: exportFlags(query),
    examples: ['audit export --file audit.jsonl.gz', 'audit export --since 2026-01-01 --file audit.csv'],
    run: withFlagNames(query, async (context, given) => {
      const { exportAudit } = await import('../export/list-export.ts')
      await exportAudit(context, given, query)
    }),
  },
  {
    name: 'verify',
    summary: 'Check that no entry of the audit log was changed, inserted or removed',
    writes: [],
    prints: ['VerifiedLog'],
    description:
      'Reads all entries and recalculates their hashes, without relying on the server. The exit code is 1 if an entry does not match.\nOnly an earlier hash reveals that the last entries were cut off or the whole log was rewritten: store the printed hash where\nit cannot be changed, and pass it with --expect.',
    flags: [expectFlag],
    refuses: notAList,
    examples: ['audit verify', 'audit verify -o json', 'audit verify --expect "$AUDIT_HASH"'],
    run: async (context, given) => {
      const { verifyAudit } = await import('../audit/verify-audit.ts')
      await verifyAudit(context, given.flags[expectFlag.name] as readonly string[] | undefined)
    },
  },
]
