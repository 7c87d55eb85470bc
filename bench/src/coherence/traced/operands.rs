//! What an instruction does to memory, and what it costs before it waits for any.

use iced_x86::{
    Code, Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};
use nix::libc::user_regs_struct as Registers;

use crate::coherence::costs;
use crate::coherence::lines::{Kind, LINE};
use crate::instructions::code::is_atomic;

/// The longest instruction that there is.
pub const LONGEST: usize = 15;

/// A decoded instruction.
pub struct Decoded {
    /// The instruction itself.
    pub instruction: Instruction,
    operands: Vec<Operand>,
    /// What it takes if all lines are there.
    pub cost: u64,
    /// Whether it enters the kernel.
    pub is_call: bool,
    /// Whether it only asks for lines, and waits for none.
    pub is_prefetch: bool,
}

/// A place in memory, by registers.
struct Operand {
    memory: Memory,
    kind: Kind,
}

enum Memory {
    Used(UsedMemory),
    /// The operand of a prefetch, which uses none.
    Asked(Instruction),
}

impl Decoded {
    /// Decodes the instruction at this address; `None` if it is none.
    pub fn of(bytes: &[u8], address: u64) -> Option<Decoded> {
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return None;
        }
        let prefetch = prefetch(&instruction);
        let operands = match prefetch {
            Some(kind) => vec![Operand { memory: Memory::Asked(instruction), kind }],
            None => used(&instruction),
        };
        let cost = match instruction.mnemonic() {
            Mnemonic::Pause => costs::PAUSE,
            _ if is_atomic(bytes) => costs::ATOMIC,
            _ => costs::INSTRUCTION,
        };
        let is_call = instruction.code() == Code::Syscall;
        Some(Decoded { instruction, operands, cost, is_call, is_prefetch: prefetch.is_some() })
    }

    /// The first byte in each line that it uses, and what for; a line that is read and written is
    /// written.
    pub fn accesses<'a>(
        &'a self,
        registers: &'a Registers,
    ) -> impl Iterator<Item = (u64, Kind)> + 'a {
        self.operands.iter().filter_map(|operand| operand.bytes(registers)).flat_map(
            |(start, size, kind)| {
                let lines = start / LINE..=start.saturating_add(size - 1) / LINE;
                lines.map(move |line| (start.max(line * LINE), kind))
            },
        )
    }
}

impl Operand {
    /// Where it is with these registers, and how long; `None` if vector registers say so.
    fn bytes(&self, registers: &Registers) -> Option<(u64, u64, Kind)> {
        let value = |register, _, _| value(registers, register);
        let (start, size) = match &self.memory {
            Memory::Used(used) => (used.virtual_address(0, value)?, used.memory_size().size()),
            Memory::Asked(instruction) => (instruction.virtual_address(0, 0, value)?, 1),
        };
        Some((start, size.max(1) as u64, self.kind))
    }
}

/// What a prefetch is for, if it is one.
fn prefetch(instruction: &Instruction) -> Option<Kind> {
    if instruction.op0_kind() != OpKind::Memory {
        return None;
    }
    match instruction.mnemonic() {
        Mnemonic::Prefetchw | Mnemonic::Prefetchwt1 => Some(Kind::Write),
        Mnemonic::Prefetchnta
        | Mnemonic::Prefetcht0
        | Mnemonic::Prefetcht1
        | Mnemonic::Prefetcht2 => Some(Kind::Read),
        _ => None,
    }
}

fn used(instruction: &Instruction) -> Vec<Operand> {
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_memory();
    let operand = |used: &UsedMemory| {
        let kind = match used.access() {
            OpAccess::Read | OpAccess::CondRead => Kind::Read,
            // A compare-and-swap takes the line before it compares.
            OpAccess::Write
            | OpAccess::CondWrite
            | OpAccess::ReadWrite
            | OpAccess::ReadCondWrite => Kind::Write,
            OpAccess::None | OpAccess::NoMemAccess => return None,
        };
        Some(Operand { memory: Memory::Used(*used), kind })
    };
    used.iter().filter_map(operand).collect()
}

/// The value of a register; the base of a segment.
pub fn value(registers: &Registers, register: Register) -> Option<u64> {
    let value = match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    };
    // A part of a register, as an index of 32 bits.
    Some(if register.is_gpr32() { u64::from(value as u32) } else { value })
}

#[cfg(test)]
mod tests {
    use nix::libc::user_regs_struct as Registers;

    use super::Decoded;
    use crate::coherence::costs;
    use crate::coherence::lines::Kind::{Read, Write};

    /// Some registers.
    fn registers() -> Registers {
        Registers {
            r15: 0,
            r14: 0,
            r13: 0,
            r12: 3,
            rbp: 0,
            rbx: 0,
            r11: 0,
            r10: 0,
            r9: 0,
            r8: 0,
            rax: 0xffff_ffff_0000_0010,
            rcx: 0,
            rdx: 0,
            rsi: 0x1000,
            rdi: 0x2000,
            orig_rax: u64::MAX,
            rip: 0,
            cs: 0x33,
            eflags: 0,
            rsp: 0x3000,
            ss: 0x2b,
            fs_base: 0x7000,
            gs_base: 0,
            ds: 0,
            es: 0,
            fs: 0,
            gs: 0,
        }
    }

    fn decoded(bytes: &[u8]) -> Decoded {
        Decoded::of(bytes, 0x400).expect("it is an instruction")
    }

    #[test]
    fn memory_is_found_by_the_registers() {
        let accesses = [
            (&[0x48, 0x8b, 0x47, 0x08][..], &[(0x2008, Read)][..]), // mov rax, [rdi+8]
            (&[0x48, 0x89, 0x07], &[(0x2000, Write)]),              // mov [rdi], rax
            (&[0x4a, 0x89, 0x04, 0xe7], &[(0x2018, Write)]),        // mov [rdi+r12*8], rax
            (&[0x48, 0x01, 0x06], &[(0x1000, Write)]),              // add [rsi], rax
            (&[0x48, 0x39, 0x06], &[(0x1000, Read)]),               // cmp [rsi], rax
            (&[0xf0, 0x48, 0x0f, 0xb1, 0x0e], &[(0x1000, Write)]),  // lock cmpxchg [rsi], rcx
            (&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0], &[(0x7010, Read)]), // mov rax, fs:[16]
            (&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0], &[(0x417, Read)]), // mov rax, [rip+16]
            (&[0x67, 0x8b, 0x40, 0x04], &[(0x14, Read)]),           // mov eax, [eax+4]
            (&[0x48, 0x8d, 0x47, 0x08], &[]),                       // lea rax, [rdi+8]
            (&[0x50], &[(0x2ff8, Write)]),                          // push rax
            (&[0xc3], &[(0x3000, Read)]),                           // ret
            (&[0x0f, 0x0d, 0x0f], &[(0x2000, Write)]),              // prefetchw [rdi]
            (&[0x48, 0x01, 0xd8], &[]),                             // add rax, rbx
        ];
        for (bytes, expected) in accesses {
            let found: Vec<_> = decoded(bytes).accesses(&registers()).collect();
            assert_eq!(found, expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn an_instruction_may_use_two_places_and_a_place_two_lines() {
        // movsq: from [rsi] to [rdi].
        let found: Vec<_> = decoded(&[0x48, 0xa5]).accesses(&registers()).collect();
        assert!(found.contains(&(0x1000, Read)) && found.contains(&(0x2000, Write)), "{found:x?}");
        // mov [rdi+0x3c], rax
        let found: Vec<_> = decoded(&[0x48, 0x89, 0x47, 0x3c]).accesses(&registers()).collect();
        assert_eq!(found, [(0x203c, Write), (0x2040, Write)]);
    }

    #[test]
    fn what_is_special_is_told() {
        assert!(decoded(&[0x0f, 0x05]).is_call);
        assert!(decoded(&[0x0f, 0x0d, 0x0f]).is_prefetch);
        assert_eq!(decoded(&[0xf3, 0x90]).cost, costs::PAUSE);
        assert_eq!(decoded(&[0xf0, 0x48, 0xff, 0x07]).cost, costs::ATOMIC);
        assert_eq!(decoded(&[0x48, 0x89, 0x07]).cost, costs::INSTRUCTION);
        assert!(Decoded::of(&[0x06], 0).is_none(), "it is none in 64-bit code");
    }
}
