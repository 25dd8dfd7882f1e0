import { type Command, noColumns } from '../command/command.ts'

export const commands: readonly Command[] = [
  {
    name: 'change',
    isDefault: true,
    summary: 'Undo an import, an apply or another change',
    writes: ['academy'],
    prints: ['Undone', 'UndoPlan'],
    exits: ['partial'],
    destructive: true,
    confirms: true,
    description:
      'The word change can be left out. Shows the plan and asks before anything is changed; --yes confirms. What was created is\nremoved, what was deleted comes back, and changed fields return to what they were, unless they were changed since: those\nare listed and kept. What cannot be undone is listed last, such as progress. An undo can be undone itself, and one that\nwas interrupted continues when it is run again. A change can be undone for 30 days.',
    interruption: 'continues',
    arguments: [{ name: 'change', summary: 'Id of the change, the beginning of it, or last' }],
    refuses: noColumns,
    examples: ['undo last --dry-run', 'undo last --yes'],
    run: async (context, given) => {
      const { undoChange } = await import('../undo/undo.ts')
      await undoChange(context, given.arguments['change'] ?? '')
    },
  },
  {
    name: 'list',
    summary: 'List changes, newest first, and whether they can be undone',
    writes: [],
    prints: ['UndoableChange[]'],
    description:
      'Lists imports, applies, roster applies and commands on records: who ran them, when, on which file, and what they\nchanged; with --all also those that changed nothing. canUndo is true or false, why says what prevents it. Admins see all\nchanges, others their own.',
    refuses: { dryRun: 'It changes nothing' },
    examples: ['undo list', 'undo list --limit 5 -o json'],
    run: async (context) => {
      const { listChanges } = await import('../undo/changes.ts')
      await listChanges(context)
    },
  },
]
