import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { UserInput } from '../../contract/users.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import { targetFlags } from '../export/export-options.ts'
import { fields, filters } from '../flags/users.ts'
import type { Lookup } from '../operation/lookup.ts'
import { call } from '../operation/operation-command.ts'
import type { Find, Finding, OperationSpec } from '../operation/operation-spec.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError } from '../terminal/errors.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.users

const user = { name: 'user', summary: 'User: id, external id or e-mail address' }
const columns = ['email', 'profile.firstName', 'profile.lastName', 'role', 'status', 'externalId', 'id']

function statusCommand(
  name: string,
  status: UserInput['status'],
  verb: string,
  summary: string,
  examples: readonly string[],
  more: Pick<OperationSpec<Call>, 'finds'> = {},
): Command {
  return call({
    name,
    summary,
    operation: async () => (await contract()).update,
    arguments: { userId: user },
    several: 'users',
    fixed: { status },
    columns,
    done: (answer, { arguments: { user } }, unchanged) => {
      const name = `user ${thingName(answer, user)}`
      return unchanged ? updatedLine(verb, name, answer, unchanged, status) : `${verb} ${name}`
    },
    examples,
    ...more,
  })
}

/** Describes the deletion: a deleted user can be restored, an erased one cannot. */
async function deletionQuestion(
  _: Lookup,
  { arguments: { user = '' }, flags }: Given,
  found: unknown,
): Promise<Question> {
  const name = thingName(found, user)
  return flags['erase']
    ? {
        text: `Erase the personal data of user ${name}`,
        consequence: 'This cannot be undone.',
        typed: String(valueAt(found, 'email') ?? user),
      }
    : { text: `Delete user ${name}`, consequence: 'The user can be restored later.' }
}

export const commands: readonly Command[] = [
  call({
    name: 'list',
    summary: 'List users',
    operation: async () => (await contract()).list,
    query: filters,
    columns,
    examples: ['users list --role instructor,admin', 'users list --status active --all -o csv > users.csv'],
  }),
  call({
    name: 'get',
    summary: 'Show a user',
    operation: async () => (await contract()).get,
    arguments: { userId: user },
    columns,
    examples: ['users get ext:11391', 'users get email:admin@academy.local'],
  }),
  call({
    name: 'create',
    summary: 'Create a user',
    operation: async () => (await contract()).create,
    fields,
    password: 'on request',
    exists: { dataset: 'users', name: (thing) => `user ${thingName(thing)}` },
    columns,
    done: (answer) => `Created user ${thingName(answer)}`,
    examples: [
      'users create --email ada@example.org --first-name Ada --role instructor',
      'users create --email grace@example.org --password-stdin < password.txt',
      'users create --email ada@example.org --if-not-exists -q',
    ],
  }),
  call({
    name: 'update',
    summary: 'Update users',
    operation: async () => (await contract()).update,
    arguments: { userId: user },
    several: 'users',
    fields,
    merge: true,
    versioned: true,
    columns,
    done: (answer, { arguments: { user } }, unchanged) =>
      updatedLine('Updated', `user ${thingName(answer, user)}`, answer, unchanged),
    examples: ['users update ext:11391 --role analyst', 'users update 11391 6516 --managed-by registry'],
  }),
  statusCommand(
    'suspend',
    'suspended',
    'Suspended',
    'Suspend users: they cannot sign in, and their keys are refused',
    ['users suspend 11391', 'users list --role analyst -q | learnctl users suspend --ids -'],
  ),
  statusCommand('activate', 'active', 'Activated', 'Activate suspended users', ['users activate 11391']),
  statusCommand('restore', 'active', 'Restored', 'Restore deleted users', ['users restore 11391'], {
    finds: findDeletedUser,
  }),
  call({
    name: 'set-password',
    summary: "Set a user's password and end their sessions and grants",
    description:
      'The password is read from standard input; on a terminal you are prompted for it twice, and it is not shown.\nAPI keys stay valid. On a local academy, this is also how to set the first password.',
    operation: async () => (await contract()).update,
    arguments: { userId: user },
    password: 'always',
    columns,
    done: (answer, { arguments: { user } }) =>
      `Set the password of user ${thingName(answer, user)}; their sessions and grants have ended`,
    examples: ['users set-password email:admin@academy.local < password.txt'],
  }),
  call({
    name: 'delete',
    summary: 'Delete users (can be restored)',
    operation: async () => (await contract()).delete,
    arguments: { userId: user },
    several: 'users',
    query: { erase: { kind: 'switch', summary: 'Erase the personal data for good (cannot be undone)' } },
    destroys: {
      action: ({ arguments: { user }, flags }) => `${flags['erase'] ? 'erase' : 'delete'} user ${user}`,
      read: async (look, { arguments: { user = '' } }) => look.one((await contract()).get, { userId: user }),
      question: deletionQuestion,
      several: async (_, { flags }) =>
        flags['erase']
          ? { consequence: 'Their personal data is erased. This cannot be undone.', irreversible: true }
          : { consequence: 'They can be restored later.' },
    },
    // The line of an erasure may be kept in a log, so it repeats the reference instead of the user's name.
    done: (found, { arguments: { user }, flags }) =>
      flags['erase']
        ? `Erased user ${user}; the personal data cannot be restored`
        : `Deleted user ${thingName(found, user)}; restore with: learnctl users restore ${shellWord(user ?? '')}`,
    examples: ['users delete ext:11391 --yes', 'users delete ext:11391 --erase --yes'],
  }),
  {
    name: 'export-data',
    summary: 'Export all stored data about a person as one JSON document',
    writes: [],
    prints: ['PersonalData'],
    description:
      'For requests of access and portability (GDPR Art. 15 and 20): profile, enrolments, progress and grades with their history, groups, keys\nand applications without secrets, ids in other systems, events of other systems, and the audit log by and about the person. The sections are\nin docs/concepts.md. Requires an admin. Check who asked before you hand it over.',
    arguments: [user],
    refuses: {
      quiet: 'The result has no id',
      columns: 'The data is exported as a whole',
      limit: 'The data is exported as a whole',
    },
    flags: targetFlags.filter(({ name }) => name === 'file' || name === 'force'),
    examples: [
      'users export-data ext:11391 --file 11391.json',
      'users export-data ext:11391 | jq .enrollments',
    ],
    run: async (context, given) => {
      const { exportPersonalData } = await import('../export/personal-data-export.ts')
      await exportPersonalData(context, given)
    },
  },
  call({
    name: 'me',
    summary: 'Show the signed-in user and the scopes of the credential',
    operation: async () => (await contract()).profile,
    columns: [...columns, 'scopes', 'authMethod'],
    examples: ['users me'],
  }),
  importCommand('users', 'users', ['users import users.csv']),
  exportCommand({
    dataset: 'users',
    people: true,
    noun: 'users',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['users export --file all-users.csv', 'users export --role learner --file learners.jsonl.gz'],
  }),
]

/**
 * Finds a deleted user by id, external id or email address. A bare address matches only users who are not deleted.
 * Throws a CommandError for a user who is not deleted.
 */
async function findDeletedUser({ context, caller }: Finding): Promise<Find> {
  const { ApiError } = await import('../../client/errors.ts')
  const { signal } = context.io
  return async ({ arguments: { user = '' } }) => {
    const { users } = (await import('../../contract/calls.ts')).calls
    const address = user.startsWith('email:') ? user.slice(6) : user.includes('@') ? user : null
    const shown = (await byReference()) ?? (address === null ? null : await byAddress(address))
    if (shown === null) return user
    const { id, status } = shown
    if (status === 'deleted' || status === undefined) return String(id)
    const suspended =
      status === 'suspended' ? { hint: `To activate: learnctl users activate ${shellWord(user)}` } : {}
    throw new CommandError('not_deleted', 'conflict', `User ${thingName(shown, user)} is not deleted`, {
      why: [`The status is ${String(status)}`],
      ...suspended,
    })

    async function byReference() {
      try {
        const { data } = await caller.call(users.get, { params: { userId: user }, signal })
        const thing: unknown = data
        return isJsonObject(thing) && thing['id'] !== undefined ? thing : null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && address !== null) return null
        throw error
      }
    }

    async function byAddress(email: string) {
      const operation: Operation = users.list
      const query = { email, status: 'deleted' }
      for await (const { data } of caller.pages(operation, { query, signal })) {
        const same = (each: unknown) => String(each).toLowerCase() === email.toLowerCase()
        const found = data.filter(isJsonObject).find((each) => same(each['email']))
        if (found) return found
      }
      return null
    }
  }
}
