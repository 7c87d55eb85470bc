//! Does the instructions that programs consist of for the most part, where the kernel would take a
//! hundred times as long to let the processor do one. What is not done here is left to the
//! processor: nothing need be complete.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use nix::libc::user_regs_struct as Registers;

use super::operands::value;

/// Memory of the program.
pub trait ReadWrite {
    /// Fills the buffer; false if there is nothing.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;

    /// Writes; false if it cannot.
    fn write(&self, address: u64, bytes: &[u8]) -> bool;
}

const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;
const ALL: u64 = CARRY | PARITY | ZERO | SIGN | OVERFLOW;

/// The flags that an instruction here leaves defined, of those that one here reads: not the
/// overflow of a shift by several bits.
pub fn defined(instruction: &Instruction) -> u64 {
    match instruction.mnemonic() {
        Mnemonic::Shl | Mnemonic::Shr | Mnemonic::Sar => ALL & !OVERFLOW,
        _ => ALL,
    }
}

/// Does an instruction. If it returns `None`, it has changed nothing, and the processor has to do
/// it.
pub fn emulate(
    instruction: &Instruction,
    registers: &mut Registers,
    memory: &impl ReadWrite,
) -> Option<()> {
    let mut after = *registers;
    after.rip = instruction.next_ip();
    let mut state = State { instruction, before: registers, after, memory };
    state.run()?;
    *registers = state.after;
    Some(())
}

struct State<'a, M> {
    instruction: &'a Instruction,
    before: &'a Registers,
    after: Registers,
    memory: &'a M,
}

impl<M: ReadWrite> State<'_, M> {
    /// Memory is written last of all, so that what cannot be done has changed nothing.
    fn run(&mut self) -> Option<()> {
        use Mnemonic::*;
        let condition = self.instruction.condition_code();
        match self.instruction.mnemonic() {
            Nop | Endbr64 | Pause | Mfence | Sfence | Lfence | Prefetchw | Prefetcht0 => Some(()),
            Mov | Movzx => {
                let value = self.get(1)?;
                self.set(0, value)
            }
            Movsx | Movsxd => {
                let value = signed(self.get(1)?, self.bits(1)).cast_unsigned();
                self.set(0, value)
            }
            Lea => {
                let address = self
                    .instruction
                    .virtual_address(1, 0, |register, _, _| value(self.before, register));
                self.set(0, address?)
            }
            Add | Sub | Cmp | And | Or | Xor | Test => self.arithmetic(),
            Inc | Dec | Neg | Not => self.unary(),
            Shl | Shr | Sar => self.shift(),
            Push => {
                let value = self.get(0)?;
                (self.bits(0) == 64).then(|| self.push(value))?
            }
            Pop => {
                (self.bits(0) == 64).then_some(())?;
                let value = self.pop()?;
                self.set(0, value)
            }
            Call => {
                let target = self.target()?;
                self.push(self.after.rip)?;
                self.after.rip = target;
                Some(())
            }
            Ret if self.instruction.op_count() == 0 => {
                self.after.rip = self.pop()?;
                Some(())
            }
            Jmp => {
                self.after.rip = self.target()?;
                Some(())
            }
            Xchg => {
                let (one, other) = (self.get(0)?, self.get(1)?);
                self.set(1, one)?;
                self.set(0, other)
            }
            Xadd => {
                let (one, other) = (self.get(0)?, self.get(1)?);
                let sum = self.sum(one, other);
                self.set(1, one)?;
                self.set(0, sum)
            }
            Cmpxchg => self.compare_exchange(),
            _ if condition == ConditionCode::None => None,
            _ if self.instruction.is_jcc_short_or_near() => {
                if self.holds(condition) {
                    self.after.rip = self.instruction.near_branch_target();
                }
                Some(())
            }
            _ if self.instruction.op_count() == 2 => {
                let chosen = if self.holds(condition) { 1 } else { 0 };
                // The memory is read in any case, and the upper half of the register is cleared.
                let values = [self.get(0)?, self.get(1)?];
                self.set(0, values[chosen])
            }
            _ if self.instruction.op_count() == 1 && self.bits(0) == 8 => {
                self.set(0, u64::from(self.holds(condition)))
            }
            _ => None,
        }
    }

    fn arithmetic(&mut self) -> Option<()> {
        let (one, other) = (self.get(0)?, self.get(1)?);
        let result = match self.instruction.mnemonic() {
            Mnemonic::Add => self.sum(one, other),
            Mnemonic::Sub | Mnemonic::Cmp => self.difference(one, other),
            Mnemonic::Or => self.logic(one | other),
            Mnemonic::Xor => self.logic(one ^ other),
            _ => self.logic(one & other),
        };
        match self.instruction.mnemonic() {
            Mnemonic::Cmp | Mnemonic::Test => Some(()),
            _ => self.set(0, result),
        }
    }

    fn unary(&mut self) -> Option<()> {
        let value = self.get(0)?;
        let carry = self.before.eflags & CARRY;
        let result = match self.instruction.mnemonic() {
            Mnemonic::Not => !value,
            Mnemonic::Neg => self.difference(0, value),
            Mnemonic::Inc => self.sum(value, 1),
            _ => self.difference(value, 1),
        };
        if matches!(self.instruction.mnemonic(), Mnemonic::Inc | Mnemonic::Dec) {
            self.after.eflags = self.after.eflags & !CARRY | carry;
        }
        self.set(0, result)
    }

    fn shift(&mut self) -> Option<()> {
        let bits = self.bits(0);
        let value = self.get(0)?;
        let count = self.get(1)? as u32 & if bits == 64 { 63 } else { 31 };
        if count == 0 {
            return self.set(0, value);
        }
        if count >= bits {
            return None;
        }
        let (result, carry, overflow) = match self.instruction.mnemonic() {
            Mnemonic::Shl => {
                let (result, carry) = (value << count, value >> (bits - count) & 1);
                (result, carry, (result >> (bits - 1) & 1) ^ carry)
            }
            Mnemonic::Shr => (value >> count, value >> (count - 1) & 1, value >> (bits - 1) & 1),
            _ => {
                let value = signed(value, bits);
                ((value >> count).cast_unsigned(), (value >> (count - 1)).cast_unsigned() & 1, 0)
            }
        };
        self.flags(result, carry != 0, overflow != 0);
        self.set(0, result)
    }

    fn compare_exchange(&mut self) -> Option<()> {
        let bits = self.bits(0);
        let (found, new) = (self.get(0)?, self.get(1)?);
        let expected = self.before.rax & mask(bits);
        self.difference(expected, found);
        if found == expected {
            return self.set(0, new);
        }
        let accumulator = match bits {
            64 => Register::RAX,
            32 => Register::EAX,
            16 => Register::AX,
            _ => Register::AL,
        };
        self.set_register(accumulator, found)
    }

    fn sum(&mut self, one: u64, other: u64) -> u64 {
        let bits = self.bits(0);
        let result = one.wrapping_add(other) & mask(bits);
        let overflow = (one ^ result) & (other ^ result);
        self.flags(result, result < one, overflow >> (bits - 1) & 1 != 0);
        result
    }

    fn difference(&mut self, one: u64, other: u64) -> u64 {
        let bits = self.bits(0);
        let result = one.wrapping_sub(other) & mask(bits);
        let overflow = (one ^ other) & (one ^ result);
        self.flags(result, one < other, overflow >> (bits - 1) & 1 != 0);
        result
    }

    fn logic(&mut self, result: u64) -> u64 {
        self.flags(result, false, false);
        result
    }

    fn flags(&mut self, result: u64, carry: bool, overflow: bool) {
        let bits = self.bits(0);
        let result = result & mask(bits);
        let is = |condition, flag| if condition { flag } else { 0 };
        self.after.eflags = self.after.eflags & !ALL
            | is(carry, CARRY)
            | is(overflow, OVERFLOW)
            | is(result == 0, ZERO)
            | is(result >> (bits - 1) & 1 != 0, SIGN)
            | is((result as u8).count_ones().is_multiple_of(2), PARITY);
    }

    fn holds(&self, condition: ConditionCode) -> bool {
        use ConditionCode::*;
        let is = |flag| self.before.eflags & flag != 0;
        let less = is(SIGN) != is(OVERFLOW);
        match condition {
            o => is(OVERFLOW),
            no => !is(OVERFLOW),
            b => is(CARRY),
            ae => !is(CARRY),
            e => is(ZERO),
            ne => !is(ZERO),
            be => is(CARRY) || is(ZERO),
            a => !is(CARRY) && !is(ZERO),
            s => is(SIGN),
            ns => !is(SIGN),
            p => is(PARITY),
            np => !is(PARITY),
            l => less,
            ge => !less,
            le => less || is(ZERO),
            g => !less && !is(ZERO),
            None => true,
        }
    }

    /// Where a jump or a call goes.
    fn target(&self) -> Option<u64> {
        match self.instruction.op0_kind() {
            OpKind::NearBranch64 => Some(self.instruction.near_branch_target()),
            _ if self.bits(0) == 64 => self.get(0),
            _ => None,
        }
    }

    fn push(&mut self, value: u64) -> Option<()> {
        self.after.rsp -= 8;
        self.memory.write(self.after.rsp, &value.to_le_bytes()).then_some(())
    }

    fn pop(&mut self) -> Option<u64> {
        let value = self.load(self.before.rsp, 8);
        self.after.rsp += 8;
        value
    }

    fn bits(&self, operand: u32) -> u32 {
        let bytes = match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size(),
            OpKind::Memory => self.instruction.memory_size().size(),
            OpKind::Immediate8 => 1,
            OpKind::Immediate16 | OpKind::Immediate8to16 => 2,
            OpKind::Immediate32 | OpKind::Immediate8to32 => 4,
            _ => 8,
        };
        8 * bytes as u32
    }

    /// The value of an operand; `None` if it is none of a general register's size.
    fn get(&self, operand: u32) -> Option<u64> {
        let instruction = self.instruction;
        match instruction.op_kind(operand) {
            OpKind::Register => register(self.before, instruction.op_register(operand)),
            OpKind::Memory => self.load(self.address(operand)?, instruction.memory_size().size()),
            _ => {
                let value = instruction.try_immediate(operand).ok()?;
                Some(value & mask(self.bits(0)))
            }
        }
    }

    fn set(&mut self, operand: u32, value: u64) -> Option<()> {
        match self.instruction.op_kind(operand) {
            OpKind::Register => self.set_register(self.instruction.op_register(operand), value),
            OpKind::Memory => {
                let bytes = value.to_le_bytes();
                let bytes = bytes.get(..self.instruction.memory_size().size())?;
                self.memory.write(self.address(operand)?, bytes).then_some(())
            }
            _ => None,
        }
    }

    fn address(&self, operand: u32) -> Option<u64> {
        let value = |register, _, _| value(self.before, register);
        self.instruction.virtual_address(operand, 0, value)
    }

    fn load(&self, address: u64, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.read(address, bytes.get_mut(..size)?).then(|| u64::from_le_bytes(bytes))
    }

    fn set_register(&mut self, register: Register, value: u64) -> Option<()> {
        let shift = shift_of(register);
        let word = word(&mut self.after, register.full_register())?;
        *word = match register.size() {
            8 => value,
            4 => value & mask(32),
            size => {
                let mask = mask(8 * size as u32) << shift;
                *word & !mask | value << shift & mask
            }
        };
        Some(())
    }
}

/// The value of a general register.
fn register(registers: &Registers, register: Register) -> Option<u64> {
    register.is_gpr().then_some(())?;
    let full = value(registers, register.full_register())?;
    Some(full >> shift_of(register) & mask(8 * register.size() as u32))
}

/// By how many bits a part of a register is moved in it.
fn shift_of(register: Register) -> u32 {
    match register {
        Register::AH | Register::BH | Register::CH | Register::DH => 8,
        _ => 0,
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

fn word(registers: &mut Registers, full: Register) -> Option<&mut u64> {
    Some(match full {
        Register::RAX => &mut registers.rax,
        Register::RBX => &mut registers.rbx,
        Register::RCX => &mut registers.rcx,
        Register::RDX => &mut registers.rdx,
        Register::RSI => &mut registers.rsi,
        Register::RDI => &mut registers.rdi,
        Register::RBP => &mut registers.rbp,
        Register::RSP => &mut registers.rsp,
        Register::R8 => &mut registers.r8,
        Register::R9 => &mut registers.r9,
        Register::R10 => &mut registers.r10,
        Register::R11 => &mut registers.r11,
        Register::R12 => &mut registers.r12,
        Register::R13 => &mut registers.r13,
        Register::R14 => &mut registers.r14,
        Register::R15 => &mut registers.r15,
        _ => return None,
    })
}
