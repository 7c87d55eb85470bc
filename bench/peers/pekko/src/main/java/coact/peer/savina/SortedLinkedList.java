package coact.peer.savina;

/** An ascending, singly linked list that keeps equal values. */
final class SortedLinkedList {
    private static final class Node {
        final int value;
        Node next;

        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }

    // Before the first: so that there is always a node before.
    private final Node head = new Node(0, null);
    private int size;

    void add(int value) {
        Node before = before(value);
        before.next = new Node(value, before.next);
        size++;
    }

    boolean contains(int value) {
        Node found = before(value).next;
        return found != null && found.value == value;
    }

    int size() {
        return size;
    }

    /** The sum of the values, each times its place from 1. */
    long digest() {
        long sum = 0;
        long place = 1;
        for (Node node = head.next; node != null; node = node.next) {
            sum += place * node.value;
            place++;
        }
        return sum;
    }

    /** The last node before those of this value or more. */
    private Node before(int value) {
        Node node = head;
        while (node.next != null && node.next.value < value) {
            node = node.next;
        }
        return node;
    }
}
